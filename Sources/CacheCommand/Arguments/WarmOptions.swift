/// The source and the cache of `warm`, and how records become entries.
package struct WarmOptions: Sendable, Equatable {
    package let source: SourceLocation
    package let cache: CacheSelection
    /// The field whose value becomes the key.
    package let keyField: String
    /// The name of the Swift type as which the records are archived; `nil` leaves it to the cache.
    package let typeName: String?
    /// `nil` takes every field as it is.
    package let fields: FieldList?
    /// `nil` is never.
    package let timeToLive: TimeToLive?
    /// `nil` is no limit.
    package let limit: Int?
    /// `nil` is no limit.
    package let maxSize: SizeLimit?
    package let tag: String?
    package let resumes: Bool
    /// `nil` finds out.
    package let format: RecordFormat?
    package let isDryRun: Bool
    package let skipsInvalid: Bool
    package let printsKeys: Bool
    package let isQuiet: Bool
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        source = SourceLocation(arguments.operands[0])
        cache = try CacheSelection(arguments, hasLayout: true)
        keyField = try arguments.required(Options.key)
        typeName = try arguments.value(of: Options.type)
        fields = try arguments.value(of: Options.fields)
        timeToLive = try arguments.value(of: Options.ttl)
        limit = try arguments.value(of: Options.limit)
        maxSize = try arguments.value(of: Options.maxSize)
        tag = try arguments.value(of: Options.tag)
        resumes = arguments.has(Options.resume)
        format = try arguments.value(of: Options.format)
        isDryRun = arguments.has(Options.dryRun)
        skipsInvalid = arguments.has(Options.skipInvalid)
        printsKeys = arguments.has(Options.printKeys)
        isQuiet = arguments.has(Options.quiet)
        writesJSON = arguments.has(Options.json)
    }
}
