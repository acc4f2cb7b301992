import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeyedArchive

@Suite(.timeLimit(.minutes(5 * slowness)))
struct TransferFaultTests {
    @Test func everyTruncationIsFound() async throws {
        let wanted = (0..<3).map { Order(number: $0) }
        let (bytes, ends) = try await stream(of: wanted)
        for count in 0..<bytes.count {
            let (orders, error) = parsed(bytes.prefix(count))
            let whole = ends.prefix { $0 <= count }
            #expect(orders == Array(wanted.prefix(whole.count)), "\(count) bytes")
            #expect(error?.code == (([0] + ends).contains(count) ? .disconnected : .truncated), "\(count) bytes")
            #expect(error?.offset == (whole.last ?? 0), "\(count) bytes")
            #expect(error?.messageCount == whole.count, "\(count) bytes")
        }
    }

    @Test func everyChangedBitIsFound() async throws {
        let wanted = (0..<3).map { Order(number: $0) }
        let (bytes, ends) = try await stream(of: wanted)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                let (orders, error) = parsed(changed)
                let whole = ends.prefix { $0 <= index }
                #expect(orders == Array(wanted.prefix(whole.count)), "bit \(bit) of byte \(index)")
                #expect(error?.code == .corrupted, "bit \(bit) of byte \(index)")
                #expect(error?.offset == (whole.last ?? 0), "bit \(bit) of byte \(index)")
            }
        }
    }

    /// The parser finds every fault; the receiver must throw it, and end.
    @Test func aFaultEndsTheStreamForGood() async throws {
        let wanted = (0..<3).map { Order(number: $0) }
        let (bytes, ends) = try await stream(of: wanted)
        for index in stride(from: 0, to: bytes.count, by: 31) {
            let whole = ends.prefix { $0 <= index }
            var changed = bytes
            changed[index] ^= 1
            for (bytes, code) in [
                (changed, TransferError.Code.corrupted),
                (Array(bytes.prefix(index)), ([0] + ends).contains(index) ? .disconnected : .truncated),
            ] {
                let receiver = try ArchiveReceiver(decoding: Order.self, from: StreamEnds.holding(bytes))
                let (orders, error) = await receive(receiver)
                #expect(orders == Array(wanted.prefix(whole.count)), "\(code) at byte \(index)")
                #expect(error?.code == code, "byte \(index)")
                #expect(error?.offset == (whole.last ?? 0), "\(code) at byte \(index)")
                #expect(error?.messageCount == whole.count, "\(code) at byte \(index)")
                #expect(await receive(receiver).error?.code == code, "again, at byte \(index)")
            }
        }
    }

    @Test func garbageIsRefusedAtItsFirstByte() async throws {
        let ends = StreamEnds.pipe()
        // No more comes, and the stream does not end.
        try ends.writing.write(contentsOf: Data("H".utf8))
        let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
        #expect(orders.isEmpty)
        #expect(error?.code == .corrupted)
        #expect(error?.offset == 0)
    }

    @Test func aLengthAboveTheLimitIsRefusedByItsHeader() async throws {
        let source = StreamEnds.pipe()
        let sender = try ArchiveSender(to: source.writing)
        try await sender.send(encoding: Order(number: 1))
        try await sender.send(encoding: Order.long(2, byteCount: 5_000))
        try await sender.finish()
        try source.writing.close()
        let bytes = try #require(try source.reading.readToEnd())

        // All of the first frame, and the second one's header alone; the stream does not end.
        let first = 20 + Int(bytes[10]) << 8 + Int(bytes[11])
        let ends = StreamEnds.pipe()
        try ends.writing.write(contentsOf: bytes.prefix(first + 20))
        let limits = ArchiveLimits(byteCount: 4_000)
        let (orders, error) = await receive(
            try ArchiveReceiver(decoding: Order.self, from: ends.reading, limits: limits)
        )
        #expect(orders == [Order(number: 1)])
        #expect(error?.code == .limitExceeded)
        #expect(error?.offset == first)
        #expect(error?.messageCount == 1)
    }

    @Test func aMessageAboveTheLimitIsNotSent() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing, messageByteLimit: 1_000)
        await expectFailure(.limitExceeded) { try await sender.send(encoding: Order.long(1, byteCount: 2_000)) }
        await expectFailure(.unwritableMessage) { try await sender.send(NSObject()) }
        try await sender.send(encoding: Order(number: 2))
        try await sender.finish()
        let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
        #expect(orders == [Order(number: 2)])
        #expect(error == nil)
    }

    @Test func anUnexpectedClassSpoilsItsMessageAlone() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing)
        try await sender.send(Contraband())
        try await sender.send("no parcel")
        try await sender.send(Parcel("first"))
        try await sender.finish()
        let parcels = try ArchiveReceiver(of: Parcel.self, from: ends.reading)
        await expectFailure(.unreadableMessage) { _ = try await parcels.next() }
        do {
            _ = try await parcels.next()
            Issue.record("a string is no parcel")
        } catch {
            #expect(error.code == .unreadableMessage)
            #expect(error.cause != nil)
            #expect(error.messageCount == 2)
        }
        #expect(try await parcels.next()?.name == "first")
        #expect(try await parcels.next() == nil)
    }

    @Test func aReaderThatIsGoneIsAnErrorAndNoSignal() async throws {
        for ends in try StreamEnds.both {
            let sender = try ArchiveSender(to: ends.writing)
            try await sender.send(encoding: Order(number: 1))
            try await sender.flush()
            try ends.reading.close()
            await expectFailure(.disconnected) {
                for number in 0..<1_000 {
                    try await sender.send(encoding: Order(number: number))
                    try await sender.flush()
                }
            }
            await expectFailure(.disconnected) { try await sender.finish() }
        }
    }

    @Test func aSenderThatWaitsHearsThatTheReaderIsGone() async throws {
        for ends in try StreamEnds.both {
            let sender = try ArchiveSender(to: ends.writing)
            let task = Task {
                while true { try await sender.send(encoding: Order.long(1, byteCount: 100_000)) }
            }
            try await Task.sleep(for: .milliseconds(100))
            try ends.reading.close()
            await expectFailure(.disconnected) { try await task.value }
        }
    }

    @Test func aSocketThatIsResetIsAnError() async throws {
        let ends = try StreamEnds.sockets()
        // Bytes that the other side has not read when it closes reset the connection.
        try ends.reading.write(contentsOf: Data([1]))
        let orders = try ArchiveReceiver(decoding: Order.self, from: ends.reading)
        try ends.writing.close()
        await expectFailure(.disconnected) { _ = try await orders.next() }
    }

    @Test func aCancelledTaskLosesNothing() async throws {
        let ends = StreamEnds.pipe()
        let orders = try ArchiveReceiver(decoding: Order.self, from: ends.reading)
        for _ in 0..<20 {
            let task = Task { try await orders.next() }
            if Bool.random() { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            await expectFailure(.cancelled) { _ = try await task.value }
        }
        let sender = try ArchiveSender(to: ends.writing)
        try await sender.send(encoding: Order(number: 7))
        try await sender.finish()
        #expect(await receive(orders).orders == [Order(number: 7)])
    }

    @Test func aCancelledSendIsWholeOrNotThere() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing, bufferByteLimit: 10_000)
        let sent = Atomic(0)
        let task = Task {
            do {
                while true {
                    let number = sent.load(ordering: .relaxed)
                    try await sender.send(encoding: Order.long(number, byteCount: 5_000))
                    sent.add(1, ordering: .relaxed)
                }
            } catch {
                #expect((error as? TransferError)?.code == .cancelled)
            }
        }
        // The pipe and the buffer have room for 15 of them.
        try await wait(until: sent.load(ordering: .relaxed) > 10)
        task.cancel()
        await task.value
        let count = sent.load(ordering: .relaxed)
        async let finished: Void = sender.finish()
        let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
        try await finished
        #expect(error == nil)
        #expect(orders.map(\.number) == Array(0..<count))
    }

    @Test func cancellingEndsEveryWait() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing)
        let sending = Task { while true { try await sender.send(encoding: Order.long(0, byteCount: 50_000)) } }
        let other = StreamEnds.pipe()
        let orders = try ArchiveReceiver(decoding: Order.self, from: other.reading)
        let receiving = Task { try await orders.next() }
        try await Task.sleep(for: .milliseconds(50))
        sender.cancel()
        orders.cancel()
        await expectFailure(.cancelled) { try await sending.value }
        await expectFailure(.cancelled) { _ = try await receiving.value }
        await expectFailure(.cancelled) { try await sender.finish() }
        await expectFailure(.cancelled) { _ = try await orders.next() }
    }

    @Test func nothingIsSentAfterTheEnd() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing)
        try await sender.finish()
        await expectFailure(.finished) { try await sender.send("late") }
        await expectFailure(.finished) { try await sender.finish() }
        let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
        #expect(orders.isEmpty)
        #expect(error == nil)
    }

    @Test func aClosedHandleIsAnError() throws {
        // A descriptor that no process of the tests has.
        let handle = FileHandle(fileDescriptor: 1_000_000, closeOnDealloc: false)
        do {
            _ = try ArchiveSender(to: handle)
            Issue.record("a closed handle was taken")
        } catch {
            #expect(error.code == .io)
            #expect(error.errorNumber == EBADF)
        }
    }
}

/// The orders in these bytes up to their end, and the error there.
private func parsed(_ bytes: some Sequence<UInt8>) -> (orders: [Order], error: TransferError?) {
    var parser = FrameParser(byteLimit: 1 << 20)
    var orders: [Order] = []
    parser.append(Array(bytes))
    do throws(TransferError) {
        while case .message(let memory) = try parser.next() {
            do throws(ArchiveError) {
                orders.append(try KeyedUnarchiver.unarchive(decoding: Order.self, in: memory))
            } catch {
                Issue.record("a message with a right checksum cannot be read: \(error)")
            }
        }
        return (orders, parser.end())
    } catch {
        return (orders, error)
    }
}

/// Expects that `body` throws a `TransferError` with this code.
private func expectFailure(
    _ code: TransferError.Code,
    location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("no error, where \(code) is expected", sourceLocation: location)
    } catch {
        #expect((error as? TransferError)?.code == code, "\(error)", sourceLocation: location)
    }
}
