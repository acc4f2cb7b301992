/// How a source writes its records.
package enum RecordFormat: String, CaseIterable, Sendable {
    /// One JSON object per line.
    case ndjson
    /// One JSON array of objects.
    case json
    /// Comma-separated values under a header line, RFC 4180.
    case csv

    /// The format that a file's name promises, or `nil` if it promises none.
    ///
    /// `.json` promises nothing: such files hold an array or one object per line, which the first byte tells.
    init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
        case "ndjson", "jsonl": self = .ndjson
        case "csv": self = .csv
        default: return nil
        }
    }

    /// The format of a text that begins with `byte`, white space left aside; `nil` is an empty text.
    init(firstByte byte: UInt8?) {
        switch byte {
        case UInt8(ascii: "["): self = .json
        case UInt8(ascii: "{"), nil: self = .ndjson
        default: self = .csv
        }
    }
}
