@testable import CacheCommand

/// Keeps the text that standard output would show; can fail once it has taken some bytes.
final class MemoryOutput: TextOutput {
    private(set) var text = ""
    /// Those that are not text.
    private(set) var bytes: [UInt8] = []
    private(set) var flushCount = 0
    var whenFlushed: (MemoryOutput) -> Void = { _ in }
    private let room: Int
    private let error: OutputError
    private let isHeldBack: Bool

    /// - Parameter isHeldBack: whether only a flush finds that there is no room.
    init(room: Int = .max, error: OutputError = .closed, isHeldBack: Bool = false) {
        self.room = room
        self.error = error
        self.isHeldBack = isHeldBack
    }

    func write(_ text: String) throws(OutputError) {
        guard isHeldBack || self.text.utf8.count + text.utf8.count <= room else { throw error }
        self.text += text
    }

    func write(bytes: [UInt8]) throws(OutputError) {
        self.bytes += bytes
    }

    func flush() throws(OutputError) {
        flushCount += 1
        if text.utf8.count > room { throw error }
        whenFlushed(self)
    }

    var lines: [String] { text.split(separator: "\n").map(String.init) }
}
