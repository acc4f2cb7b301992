import Foundation

// The index of an export: a file of one JSON object per line. The first line names the format and its version:
//
//     {"format":"typed-cache export","version":2}
//
// and each other one stands for an entry:
//
//     file, key                           strings
//     storedAt                            a date, ISO 8601
//     expiresAt                           likewise; missing means never
//     idleTime                            seconds; missing means that reading moves nothing
//     staleWhileRevalidate, staleIfError  seconds; missing means none
//     loadTime                            seconds; missing means that it was not loaded
//     tags                                strings; missing means none
//
// A date that has no exact text, before the year 0000 say, is a number of seconds since 2001 in UTC; in version 1 every
// date is. Infinite times are the strings "Infinity" and "-Infinity". Other fields are ignored.
enum ExportIndex {
    static let fileName = "index.ndjson"
    static let header = Record(fields: [
        RecordField(name: "format", value: .string(format)),
        RecordField(name: "version", value: .int(version)),
    ])
    private static let format = "typed-cache export"
    private static let version: Int64 = 2

    /// Enough for the longest key, file name and tags, all of it escaped, and some more.
    static let limits = RecordLimits(bytes: 64 << 10, depth: 8, values: 4_096)

    /// Why an index cannot be read.
    enum Fault: Error, Sendable, Equatable {
        case file(FileFault)
        /// Its first line is not that of an index.
        case noHeader
        case unknownVersion

        /// To follow the index's path.
        var phrase: String {
            switch self {
            case .file(let fault): fault.phrase
            case .noHeader: "is no index that export wrote; remove it to import by the names of the files"
            case .unknownVersion: "was written by a later version of typed-cache; use that one"
            }
        }
    }

    static func line(_ record: Record) -> [UInt8] {
        Array((JSONWriter.text(.object(record), isIndented: false) + "\n").utf8)
    }

    static func check(header: Record) throws(Fault) {
        guard header["format"] == .string(format), case .int(let number)? = header["version"] else {
            throw .noHeader
        }
        guard (1...version).contains(number) else { throw .unknownVersion }
    }
}
