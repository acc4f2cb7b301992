/// What `export` is to write, and where.
package struct ExportOptions: Sendable, Equatable {
    package let path: String
    /// Whether entries are written that have expired.
    package let includesExpired: Bool
    /// Whether a directory is taken that is not empty.
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
