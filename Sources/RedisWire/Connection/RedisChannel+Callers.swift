import Foundation

// Callers that write and read by themselves, which saves changes to the thread and back. They hold the lock of the inbox.
extension RedisChannel {
    /// A value or failure that a caller has read and leaves to the thread: observers are told on the thread alone.
    enum Held {
        /// A message, or an answer that nothing asked for.
        case value(RedisValue)
        /// Bytes that are not RESP3: the decoder throws its error again.
        case undecodable
        case failure(SocketError)
    }

    /// Whether the connection is open, no call and no bytes are under way, nothing waits for the thread, and the next call is
    /// expected to come alone: callers whose answers came together call again together, and one write takes all of their
    /// calls.
    var isIdle: Bool {
        guard case .open(let stream) = phase else { return false }
        return doneAtOnce <= 1 && !calls.hasSent && !calls.hasUnsent && held == nil && output.isEmpty
            && !stream.hasUnwritten
    }

    enum Shortcut {
        case none
        /// The call is on its way; `isNews` if the thread must look here before it would.
        case taken(isNews: Bool)
    }

    /// Sends a call on the thread of its caller, if no other one is under way.
    func sendAtOnce(_ call: RedisCall) -> Shortcut {
        guard case .open(let stream) = phase, isIdle else { return .none }
        if reading.isOn {
            // The thread has not looked: an answer that nothing asked for must not become that of this call.
            read(from: stream) { false }
            guard held == nil else { return .none }
        }
        calls.append(call)
        // None is sent for a caller that has gone.
        guard let call = calls.nextToSend(room: limits.commands) else { return .taken(isNews: false) }
        hasShortcuts = true
        lastSign = .now
        append(call)
        do throws(SocketError) {
            try stream.write(&output)
        } catch {
            // The thread meets the same failure, and ends the connection.
            return .taken(isNews: true)
        }
        let deadline = min(call.callerDeadline ?? call.deadline, call.deadline, lastSign + timeouts.hard)
        let isInTime = toldDeadline.map { $0 <= deadline } ?? false
        return .taken(isNews: !isInTime || !output.isEmpty || stream.hasUnwritten)
    }

    /// Whether callers read their answers.
    var isReadByCallers: Bool { reading.isOn }

    /// Reads until an answer has come, on the thread of its caller, which has sent the call at once.
    ///
    /// - Parameter mayGoOn: whether nothing else waits for the connection.
    /// - Returns: whether it has come, and the thread has nothing to do.
    func read(for answer: RedisAnswer, while mayGoOn: () -> Bool) -> Bool {
        guard case .open(let stream) = phase, calls.hasSent, held == nil else { return answer.isTold }
        let end = Instant.now + reading.patience
        read(from: stream) {
            if answer.isTold || !mayGoOn() { return false }
            if .now <= end { return true }
            reading.fail()
            return false
        }
        guard answer.isTold, !calls.hasSent, held == nil else { return false }
        doneAtOnce = 1
        reading.succeed()
        return output.isEmpty && !stream.hasUnwritten
    }

    /// Reads the bytes that have come, and more of them while `mayGoOn`. Bytes that the stream holds are taken in any case:
    /// the thread, which waits for the socket, would not find them.
    private func read(from stream: RedisStream, while mayGoOn: () -> Bool) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { buffer in
            do throws(SocketError) {
                var isOver = false
                while !isOver || stream.mayHoldInput {
                    switch try stream.read(into: buffer, fromSocket: !isOver) {
                    case .bytes(let count):
                        didRead(buffer[..<count])
                        takeAnswers()
                        isOver = isOver || held != nil || !mayGoOn()
                    case .wouldBlock:
                        isOver = isOver || !mayGoOn()
                        if !isOver { sched_yield() }
                    case .end: throw .closed
                    }
                }
            } catch {
                held = .failure(error)
            }
        }
    }

    private func takeAnswers() {
        do throws(RedisDecodingError) {
            while held == nil, let value = try decoder.next() {
                if case .push = value {
                    held = .value(value)
                } else if calls.take(value) {
                    attempts.succeed()
                } else {
                    held = .value(value)
                }
            }
        } catch {
            held = .undecodable
        }
    }
}
