/// The cache that `trim` shrinks, and the size that it may keep.
package struct TrimOptions: Sendable, Equatable {
    package let cache: CacheSelection
    package let size: SizeLimit
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        cache = try CacheSelection(arguments)
        size = try arguments.required(Options.trimSize)
        writesJSON = arguments.has(Options.json)
    }
}
