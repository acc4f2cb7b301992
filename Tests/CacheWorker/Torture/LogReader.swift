import Foundation

/// Reads a log piece by piece, as it grows.
final class LogReader {
    private let path: String
    private var offset: UInt64 = 0

    init(path: String) { self.path = path }

    /// The records since this was called last; none if there is no log.
    func newRecords() throws -> [LogRecord] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        let text = try file.readToEnd() ?? Data()
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text[...$0] } ?? Data()
        offset += UInt64(whole.count)
        return try LogRecord.records(String(decoding: whole, as: UTF8.self))
    }
}
