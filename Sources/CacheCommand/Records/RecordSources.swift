/// Chooses the source for the format of an input.
enum RecordSources {
    /// Opens the records of `input`.
    ///
    /// - Parameters:
    ///   - format: `nil` goes by the name of `location`, then by the first byte.
    /// - Throws: ``SourceError`` if the input cannot be read, or is CSV with no usable header.
    static func open(
        _ input: any ByteInput,
        at location: SourceLocation,
        format: RecordFormat?,
        limits: RecordLimits = RecordLimits()
    ) throws(SourceError) -> any RecordSource {
        var window = ByteWindow(input)
        try window.skipByteOrderMark()
        var chosen = format
        if chosen == nil, case .file(let path) = location { chosen = RecordFormat(path: path) }
        if chosen == nil { chosen = RecordFormat(firstByte: try window.firstVisibleByte()) }
        return switch chosen ?? .ndjson {
        case .ndjson: NDJSONSource(window, limits: limits)
        case .json: JSONArraySource(window, limits: limits)
        case .csv: try CSVSource(window, limits: limits)
        }
    }
}
