import Dispatch
import Synchronization

/// The bytes that wait until a thread of its own has written them to a stream.
///
/// Frames that are added while the thread writes go out together with its next call.
final class OutgoingBytes: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// The frames among the pending bytes.
        var pendingMessageCount = 0
        /// Bytes and messages that the system has taken.
        var writtenByteCount = 0
        var writtenMessageCount = 0
        var isWriting = false
        var hasStarted = false
        var isFinished = false
        var isStopped = false
        var failure: TransferError?
        var tasks = WaitingTasks()

        var isDrained: Bool { pending.isEmpty && !isWriting }

        func located(_ error: TransferError) -> TransferError {
            error.at(offset: writtenByteCount, messageCount: writtenMessageCount)
        }
    }

    private let descriptor: StreamDescriptor
    private let byteLimit: Int
    /// Guards everything. Nothing but memory is touched under it.
    private let state = Mutex(State())
    private let added = DispatchSemaphore(value: 0)

    /// - Parameter byteLimit: how many bytes may wait; a longer frame waits alone.
    init(_ descriptor: StreamDescriptor, byteLimit: Int) {
        self.descriptor = descriptor
        self.byteLimit = byteLimit
    }

    /// The error with the place that the stream was written to.
    func located(_ error: TransferError) -> TransferError { state.withLock { $0.located(error) } }

    /// Adds a frame that `write` appends, if there is room for its `byteCount`.
    ///
    /// - Parameter isLast: whether it is the end of the stream, which always has room.
    func add(
        byteCount: Int,
        isLast: Bool = false,
        _ write: (inout [UInt8]) -> Void
    ) throws(TransferError) -> Bool {
        enum Outcome {
            case full
            case added(isIdle: Bool, isFirst: Bool)
        }
        let outcome = try state.withLock { state throws(TransferError) -> Outcome in
            if let failure = state.failure { throw failure }
            if state.isStopped { throw state.located(TransferError(.cancelled, "the sender was cancelled")) }
            if state.isFinished { throw state.located(TransferError(.finished, "the sender has finished already")) }
            guard isLast || state.pending.isEmpty || state.pending.count + byteCount <= byteLimit else {
                return .full
            }
            let isIdle = state.isDrained
            write(&state.pending)
            if isLast { state.isFinished = true } else { state.pendingMessageCount += 1 }
            defer { state.hasStarted = true }
            return .added(isIdle: isIdle, isFirst: !state.hasStarted)
        }
        switch outcome {
        case .full: return false
        case .added(let isIdle, let isFirst):
            if isFirst { TransferThread.start("ArchiveSender") { self.run() } }
            if isIdle { added.signal() }
            return true
        }
    }

    /// Waits until there is room for a frame, or, without a length, until all bytes were written.
    ///
    /// - Throws: the error that ended the stream, `.cancelled` if this task is cancelled.
    nonisolated(nonsending) func wait(forRoom byteCount: Int?) async throws(TransferError) {
        func mustWait(_ state: borrowing State) -> Bool {
            if state.failure != nil || state.isStopped { return false }
            guard let byteCount else { return !state.isDrained }
            return !state.pending.isEmpty && state.pending.count + byteCount > byteLimit
        }
        let number = state.withLock { $0.tasks.newNumber() }
        while state.withLock({ mustWait($0) }) {
            if Task.isCancelled { throw located(TransferError(.cancelled, "the task was cancelled")) }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let mayWait = state.withLock { state in
                        // A task that is cancelled later finds itself among the waiting ones.
                        guard mustWait(state), !Task.isCancelled else { return false }
                        state.tasks.add(continuation, number: number)
                        return true
                    }
                    if !mayWait { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.tasks.take(number: number) }?.resume()
            }
        }
        try state.withLock { state throws(TransferError) in
            if let failure = state.failure { throw failure }
            if state.isStopped { throw state.located(TransferError(.cancelled, "the sender was cancelled")) }
        }
    }

    /// Drops the bytes that wait, and has the thread stop.
    func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            state.pending = []
            return state.tasks.takeAll()
        }
        descriptor.wake()
        added.signal()
        for task in tasks { task.resume() }
    }

    // MARK: The thread

    private func run() {
        StreamDescriptor.blockPipeSignal()
        while let (piece, messageCount) = takePending() {
            if let number = write(piece) { return fail(TransferError(system: number, "written")) }
            state.withLock { $0.writtenMessageCount += messageCount }
        }
    }

    /// All bytes that wait, and the number of messages in them; waits for some. `nil` when it is time to stop.
    private func takePending() -> (piece: [UInt8], messageCount: Int)? {
        while true {
            let (piece, messageCount, mustStop, tasks) = state.withLock { state in
                if state.isStopped { return ([UInt8](), 0, true, state.tasks.takeAll()) }
                let piece = state.pending
                let messageCount = state.pendingMessageCount
                state.isWriting = !piece.isEmpty
                state.pendingMessageCount = 0
                state.pending = []
                if !piece.isEmpty { state.pending.reserveCapacity(min(piece.count, byteLimit)) }
                return (piece, messageCount, piece.isEmpty && state.isFinished, state.tasks.takeAll())
            }
            for task in tasks { task.resume() }
            if mustStop { return nil }
            if !piece.isEmpty { return (piece, messageCount) }
            added.wait()
        }
    }

    /// Writes all of it. Returns the system's error number if that fails.
    private func write(_ piece: [UInt8]) -> Int32? {
        piece.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                switch descriptor.write(rest) {
                case .bytes(let count):
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                    state.withLock { $0.writtenByteCount += count }
                case .wouldBlock:
                    if state.withLock({ $0.isStopped }) { return nil }
                    descriptor.wait(for: .writable)
                case .failed(let number): return number
                }
            }
            return nil
        }
    }

    private func fail(_ error: TransferError) {
        let tasks = state.withLock { state in
            state.failure = state.located(error)
            state.pending = []
            state.isWriting = false
            return state.tasks.takeAll()
        }
        for task in tasks { task.resume() }
    }
}
