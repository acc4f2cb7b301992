/// The directory that `import` reads, and the cache in which it saves the entries.
package struct ImportOptions: Sendable, Equatable {
    package let path: String
    /// Whether an existing entry is kept.
    package let keepsPresent: Bool
    package let isDryRun: Bool
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        path = arguments.operands[0]
        keepsPresent = arguments.has(Options.keep)
        isDryRun = arguments.has(Options.importDryRun)
        cache = try CacheSelection(arguments, hasLayout: true)
        writesJSON = arguments.has(Options.json)
    }
}
