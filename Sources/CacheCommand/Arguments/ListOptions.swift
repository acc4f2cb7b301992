/// What `list` is to show.
package struct ListOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let isLong: Bool
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        isLong = arguments.has(Options.long)
        writesJSON = arguments.has(Options.json)
    }
}
