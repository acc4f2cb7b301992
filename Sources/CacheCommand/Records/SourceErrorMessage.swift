/// Writes the sentence for a source that cannot be read any further.
struct SourceErrorMessage: CustomStringConvertible {
    let error: SourceError
    let location: SourceLocation

    var description: String { "\(SafeText(location.name, limit: 300)): \(sentence)" }

    private var sentence: String {
        switch error {
        case .cannotOpen(let errno):
            "cannot be opened: \(SystemMessage(errno))"
        case .cannotRead(let errno):
            "cannot be read: \(SystemMessage(errno))"
        case .interrupted:
            "interrupted"
        case .notAnArray(let line):
            "line \(line): a JSON array must begin with [; for one object per line use --format ndjson"
        case .unclosedArray(let line):
            "line \(line): the JSON array ends before its ]; is the file complete?"
        case .textAfterArray(let line):
            "line \(line): text follows the JSON array; for one object per line use --format ndjson"
        case .missingHeader:
            "has no header line; the first line of CSV must name its columns"
        case .badHeader(let line, let reason):
            "header, \(BadRecordMessage(BadRecord(line: line, reason: reason)))"
        case .duplicateColumn(let line, let name):
            "header, line \(line): two columns are named \"\(SafeText(name, limit: 80))\"; rename one"
        case .unnamedColumn(let line, let column):
            "header, line \(line): column \(column) has no name"
        }
    }
}
