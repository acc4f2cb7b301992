import Dispatch
import Synchronization

/// The bytes of a stream as a thread of its own reads them, ahead of the task that takes them by at most
/// ``byteLimit`` and one read.
final class IncomingBytes: Sendable {
    enum Arrival {
        case bytes([UInt8])
        /// The end of the stream, or the error that ended it.
        case end(TransferError?)
        case cancelled
    }

    private struct State {
        var ready: [UInt8] = []
        var hasEnded = false
        var failure: TransferError?
        var hasStarted = false
        /// Whether the receiver has gone or was cancelled.
        var isStopped = false
        /// Whether the thread waits until bytes are taken.
        var isFull = false
        var tasks = WaitingTasks()

        var mustWait: Bool { ready.isEmpty && !hasEnded && !isStopped }
    }

    private static let byteLimit = 256 << 10
    private static let readByteCount = 64 << 10

    private let descriptor: StreamDescriptor
    /// Guards everything. Nothing but memory is touched under it.
    private let state = Mutex(State())
    private let taken = DispatchSemaphore(value: 0)

    init(_ descriptor: StreamDescriptor) { self.descriptor = descriptor }

    /// Takes all bytes that have arrived; waits for some.
    nonisolated(nonsending) func next() async -> Arrival {
        start()
        if let arrival = take() { return arrival }
        let number = state.withLock { $0.tasks.newNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    // A task that is cancelled later finds itself among the waiting ones.
                    guard state.mustWait, !Task.isCancelled else { return false }
                    state.tasks.add(continuation, number: number)
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.tasks.take(number: number) }?.resume()
        }
        return take() ?? .cancelled
    }

    /// Has the thread stop, and every waiting task go on.
    func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            return state.tasks.takeAll()
        }
        descriptor.wake()
        taken.signal()
        for task in tasks { task.resume() }
    }

    private func start() {
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted && !state.isStopped
        }
        if isFirst { TransferThread.start("ArchiveReceiver") { self.run() } }
    }

    private func take() -> Arrival? {
        let (arrival, wasFull) = state.withLock { state -> (Arrival?, Bool) in
            if state.isStopped { return (.cancelled, false) }
            if state.ready.isEmpty { return (state.hasEnded ? .end(state.failure) : nil, false) }
            defer {
                state.ready = []
                state.isFull = false
            }
            return (.bytes(state.ready), state.isFull)
        }
        if wasFull { taken.signal() }
        return arrival
    }

    // MARK: The thread

    private func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.readByteCount, alignment: 16)
        defer { buffer.deallocate() }
        while !state.withLock({ $0.isStopped }) {
            switch descriptor.read(into: buffer) {
            case .bytes(0): return end(nil)
            case .bytes(let count):
                let isFull = add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                if isFull { taken.wait() }
            case .wouldBlock: descriptor.wait(for: .readable)
            case .failed(let number): return end(TransferError(system: number, "read"))
            }
        }
    }

    /// Returns whether there are as many bytes as may wait to be taken.
    private func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (tasks, isFull) = state.withLock { state in
            state.ready += bytes
            state.isFull = state.ready.count >= Self.byteLimit
            return (state.tasks.takeAll(), state.isFull)
        }
        for task in tasks { task.resume() }
        return isFull
    }

    private func end(_ failure: TransferError?) {
        let tasks = state.withLock { state in
            state.hasEnded = true
            state.failure = failure
            return state.tasks.takeAll()
        }
        for task in tasks { task.resume() }
    }
}
