@testable import CacheCommand

/// Keeps what would be printed; can fail once it has taken some bytes.
final class MemoryOutput: TextOutput {
    private(set) var text = ""
    private(set) var flushCount = 0
    private let room: Int
    private let error: OutputError

    init(room: Int = .max, error: OutputError = .closed) {
        self.room = room
        self.error = error
    }

    func write(_ text: String) throws(OutputError) {
        guard self.text.utf8.count + text.utf8.count <= room else { throw error }
        self.text += text
    }

    func write(bytes: [UInt8]) throws(OutputError) { try write(String(decoding: bytes, as: UTF8.self)) }

    func flush() throws(OutputError) {
        flushCount += 1
    }

    var lines: [String] { text.split(separator: "\n").map(String.init) }
}
