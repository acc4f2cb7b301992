import Foundation
import KeyedArchive
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * slowness)))
struct TransferTests {
    @Test func graphsKeepTheirIdentity() async throws {
        for ends in try StreamEnds.both {
            let sender = try ArchiveSender(to: ends.writing)
            let shared = HeavyParcel("shared")
            let root = Parcel("root", content: [shared, shared, Parcel("other", content: [shared])])
            try await sender.send(root)
            try await sender.send(root)
            try await sender.finish()

            let parcels = try ArchiveReceiver(of: Parcel.self, from: ends.reading)
            var received: [Parcel] = []
            for try await parcel in parcels { received.append(parcel) }
            #expect(received.count == 2)
            for parcel in received {
                #expect(parcel.name == "root")
                #expect(parcel.content.count == 3)
                #expect(parcel.content[0] is HeavyParcel)
                #expect(parcel.content[0] === parcel.content[1])
                #expect(parcel.content[0] === parcel.content[2].content[0])
            }
            #expect(received[0] !== received[1])
            #expect(received[0].content[0] !== received[1].content[0])
        }
    }

    @Test func circlesArrive() async throws {
        let ends = StreamEnds.pipe()
        let sender = try ArchiveSender(to: ends.writing)
        let root = Parcel("root", content: [Parcel("inner")])
        root.content[0].outer = root
        try await sender.send(root)
        let received = try await ArchiveReceiver(of: Parcel.self, from: ends.reading).next()
        #expect(received?.content.first?.outer === received)
    }

    @Test func valuesArriveInTheirOrder() async throws {
        for ends in try StreamEnds.both {
            async let sent: Void = {
                let sender = try ArchiveSender(to: ends.writing)
                // Small ones and some that are longer than every buffer on the way.
                for number in 0..<3_000 {
                    let order =
                        number % 500 == 7 ? Order.long(number, byteCount: 700_000) : Order(number: number)
                    try await sender.send(encoding: order)
                }
                try await sender.finish()
            }()
            let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
            try await sent
            #expect(error == nil)
            #expect(orders.map(\.number) == Array(0..<3_000))
            #expect(orders[507].text.utf8.count == 700_000)
        }
    }

    @Test func everyPieceByPieceStreamIsTheSame() async throws {
        let wanted = (0..<3).map { Order(number: $0) }
        let (bytes, _) = try await stream(of: wanted)
        for pieceByteCount in [1, 7, 19, 20, 21, 400] {
            let pipe = Pipe.make()
            let orders = try ArchiveReceiver(decoding: Order.self, from: pipe.fileHandleForReading)
            async let received = receive(orders)
            var rest = bytes[...]
            while !rest.isEmpty {
                try pipe.fileHandleForWriting.write(contentsOf: Data(rest.prefix(pieceByteCount)))
                rest = rest.dropFirst(pieceByteCount)
            }
            #expect(await received.orders == wanted)
            #expect(await received.error == nil)
        }
    }

    @Test func aSocketCarriesBothDirections() async throws {
        let ends = try StreamEnds.sockets()
        let server = Task {
            let sender = try ArchiveSender(to: ends.writing)
            for try await order in try ArchiveReceiver(decoding: Order.self, from: ends.writing) {
                try await sender.send(encoding: Order(number: order.number * 2))
            }
            try await sender.finish()
        }
        let sender = try ArchiveSender(to: ends.reading)
        let answers = try ArchiveReceiver(decoding: Order.self, from: ends.reading)
        for number in 0..<50 {
            try await sender.send(encoding: Order(number: number))
            #expect(try await answers.next()?.number == number * 2)
        }
        try await sender.finish()
        #expect(try await answers.next() == nil)
        #expect(try await answers.next() == nil)
        try await server.value
    }

    @Test func aSlowReaderSlowsTheSenderDown() async throws {
        let ends = StreamEnds.pipe()
        let bufferByteLimit = 32 << 10
        let sender = try ArchiveSender(to: ends.writing, bufferByteLimit: bufferByteLimit)
        let counter = Counter()
        let task = Task {
            for number in 0..<2_000 {
                try await sender.send(encoding: Order.long(number, byteCount: 1_000))
                await counter.increment()
            }
            try await sender.finish()
        }
        // Until it stands still.
        var count = -1
        while await counter.count != count || count < 1 {
            count = await counter.count
            try await Task.sleep(for: .milliseconds(200))
        }
        // The buffer, the piece that is being written, and the pipe, which holds 64 KiB.
        #expect(count * 1_000 <= 2 * bufferByteLimit + 64 << 10)
        let (orders, error) = await receive(try ArchiveReceiver(decoding: Order.self, from: ends.reading))
        #expect(error == nil)
        #expect(orders.map(\.number) == Array(0..<2_000))
        try await task.value
    }

    @Test func manyReceiversThatWaitStopNobody() async throws {
        let ends = (0..<64).map { _ in StreamEnds.pipe() }
        let receivers = try ends.map { try ArchiveReceiver(decoding: Order.self, from: $0.reading) }
        let waiting = receivers.map { receiver in Task { try await receiver.next() } }
        // The same pool of threads has these go on.
        try await valuesArriveInTheirOrder()
        for (number, ends) in ends.enumerated() {
            let sender = try ArchiveSender(to: ends.writing)
            try await sender.send(encoding: Order(number: number))
            try await sender.flush()
        }
        for (number, task) in waiting.enumerated() { #expect(try await task.value?.number == number) }
    }

    @Test func aPipeIsLeftAsItWas() async throws {
        let ends = StreamEnds.pipe()
        func isNonblocking(_ handle: FileHandle) -> Bool { fcntl(handle.fileDescriptor, F_GETFL) & O_NONBLOCK != 0 }
        do {
            let sender = try ArchiveSender(to: ends.writing)
            let orders = try ArchiveReceiver(decoding: Order.self, from: ends.reading)
            #expect(isNonblocking(ends.writing))
            #expect(isNonblocking(ends.reading))
            try await sender.send(encoding: Order(number: 1))
            try await sender.finish()
            #expect(try await orders.next() == Order(number: 1))
            #expect(try await orders.next() == nil)
        }
        // Their threads end a moment later.
        try await wait(until: !isNonblocking(ends.writing) && !isNonblocking(ends.reading))
        try ends.writing.write(contentsOf: Data([1]))
        #expect(try ends.reading.read(upToCount: 1) == Data([1]))
    }
}

private actor Counter {
    private(set) var count = 0

    func increment() { count += 1 }
}
