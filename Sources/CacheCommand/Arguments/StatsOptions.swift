/// The cache that `stats` describes, and the output format.
package struct StatsOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
