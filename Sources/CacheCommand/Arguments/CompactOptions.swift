/// What `compact` is to make small.
package struct CompactOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
