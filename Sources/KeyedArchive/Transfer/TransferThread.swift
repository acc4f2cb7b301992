import Foundation

/// Starts the thread on which a sender writes or a receiver reads.
///
/// Its own thread, because a call on the stream may take for ever: Swift's cooperative threads are as many as there are
/// processors, and so many streams that stand still would stop every other task.
enum TransferThread {
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 256 << 10
        thread.start()
    }
}

/// Tasks that wait for a stream's state to change; a value in the mutex of that state.
struct WaitingTasks {
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastNumber = 0

    mutating func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ continuation: CheckedContinuation<Void, Never>, number: Int) {
        waiting[number] = continuation
    }

    mutating func take(number: Int) -> CheckedContinuation<Void, Never>? { waiting.removeValue(forKey: number) }

    /// All of them, in the order in which they came, to be resumed outside of the lock.
    mutating func takeAll() -> [CheckedContinuation<Void, Never>] {
        if waiting.isEmpty { return [] }
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting.sorted { $0.key < $1.key }.map(\.value)
    }
}
