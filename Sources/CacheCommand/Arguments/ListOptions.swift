/// The cache that `list` shows, and the output format.
package struct ListOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let isLong: Bool
    /// Whether keys are printed as they are, with a NUL behind each.
    package let isNull: Bool
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        isLong = arguments.has(Options.long)
        isNull = arguments.has(Options.null)
        writesJSON = arguments.has(Options.json)
        for (other, isGiven) in [(Options.long, isLong), (Options.json, writesJSON)] where isNull && isGiven {
            throw arguments.failure(.conflictingOptions(Options.null.spelling, other.spelling))
        }
    }
}
