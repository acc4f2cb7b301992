import Foundation
import KeyedArchive
import TestSupport

/// Both ends of a stream.
struct StreamEnds: Sendable {
    let reading: FileHandle
    let writing: FileHandle

    static func pipe() -> StreamEnds {
        let pipe = Pipe.make()
        return StreamEnds(reading: pipe.fileHandleForReading, writing: pipe.fileHandleForWriting)
    }

    static func sockets() throws -> StreamEnds {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let status = openingDescriptors { socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) }
        #else
            let status = openingDescriptors { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) }
        #endif
        guard status == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        return StreamEnds(
            reading: FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
            writing: FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }

    static var both: [StreamEnds] {
        get throws { [pipe(), try sockets()] }
    }

    /// A stream that holds these bytes, at most as many as a pipe takes without a reader, and ends after them.
    static func holding(_ bytes: some Sequence<UInt8>) throws -> FileHandle {
        let pipe = Pipe.make()
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        return pipe.fileHandleForReading
    }
}

/// The orders that can be received, and the error that ends them.
func receive(
    _ orders: ArchiveReceiver<Order>
) async -> (orders: [Order], error: TransferError?) {
    var received: [Order] = []
    do throws(TransferError) {
        while let order = try await orders.next() { received.append(order) }
    } catch {
        return (received, error)
    }
    return (received, nil)
}

/// The bytes of a stream of these orders, and where its frames end, the last one's end too.
func stream(of orders: [Order]) async throws -> (bytes: [UInt8], frameEnds: [Int]) {
    var ends: [Int] = []
    var all: [UInt8] = []
    for count in 0...orders.count {
        let pipe = Pipe.make()
        let sender = try ArchiveSender(to: pipe.fileHandleForWriting)
        for order in orders.prefix(count) { try await sender.send(encoding: order) }
        if count == orders.count { try await sender.finish() } else { try await sender.flush() }
        try pipe.fileHandleForWriting.close()
        all = [UInt8](try pipe.fileHandleForReading.readToEnd() ?? Data())
        if count > 0, count < orders.count { ends.append(all.count) }
    }
    // The end of the stream is a header alone.
    ends += [all.count - 20, all.count]
    return (all, ends)
}
