/// What `import` is to save, and where.
package struct ImportOptions: Sendable, Equatable {
    package let path: String
    /// Whether entries stay that are there already.
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
