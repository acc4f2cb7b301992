/// The cache that `verify` checks, and whether to repair it.
package struct VerifyOptions: Sendable, Equatable {
    /// Whether damaged entries are removed.
    package let repairs: Bool
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        repairs = arguments.has(Options.repair)
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
