/// Which entries `get` or `remove` is about.
package struct KeyOptions: Sendable, Equatable {
    package let keys: [String]
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        keys = arguments.operands
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
