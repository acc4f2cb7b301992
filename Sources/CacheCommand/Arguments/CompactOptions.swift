/// The cache that `compact` makes smaller, and the output format.
package struct CompactOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
