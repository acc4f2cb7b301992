/// The cache that `export` reads, and the directory in which it writes the entries.
package struct ExportOptions: Sendable, Equatable {
    package let path: String
    /// Whether expired entries are written too.
    package let includesExpired: Bool
    /// Whether a directory that is not empty is accepted.
    package let isForced: Bool
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        path = arguments.operands[0]
        includesExpired = arguments.has(Options.all)
        isForced = arguments.has(Options.force)
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
