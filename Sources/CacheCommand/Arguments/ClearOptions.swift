/// The cache that `clear` empties, and whether to do so without asking.
package struct ClearOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let isConfirmed: Bool
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        isConfirmed = arguments.has(Options.yes)
        writesJSON = arguments.has(Options.json)
    }
}
