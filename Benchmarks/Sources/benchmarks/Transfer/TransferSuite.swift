import BenchmarkKit
import Foundation
import KeyedArchive

/// Values that go through a pipe, from one thread to another.
///
/// The peers read and write pieces of 64 KiB, as we do: it is their coders that are measured, and not a call of the
/// system for every message.
struct TransferSuite: Suite {
    static let name = "transfer"
    static let summary = "messages through a pipe, beside Foundation's coders"

    private static let countPerTurn = 500

    func run(_ context: Context) throws {
        let cities = City.thousand.prefix(Self.countPerTurn).map(\.self)
        try context.compare(
            work: "transfer \(Self.countPerTurn) Codable values of 8 fields",
            subjects: [
                try codable(cities),
                try jsonLines(cities),
            ]
        )
        let objects = cities.map(EncodableCity.init)
        try context.compare(
            work: "transfer \(Self.countPerTurn) objects of 8 fields",
            subjects: [
                try graphs(of: EncodableCity.self, objects),
                try foundationGraphs(of: EncodableCity.self, objects),
            ]
        )
        let graph = [Node.graph()]
        try context.compare(
            work: "transfer 1,000 objects that share references",
            subjects: [
                try graphs(of: Node.self, graph),
                try foundationGraphs(of: Node.self, graph),
            ]
        )
    }

    // MARK: Ours

    private func codable(_ cities: [City]) throws -> Subject {
        let pipe = Pipe()
        let sender = try ArchiveSender(to: pipe.fileHandleForWriting)
        let receiver = try ArchiveReceiver(decoding: City.self, from: pipe.fileHandleForReading)
        return Subject("ArchiveSender", isOurs: true) { _ in
            try TwoTasks.run {
                for city in cities { try await sender.send(encoding: city) }
                try await sender.flush()
            } while: {
                var count = 0
                while count < cities.count, try await receiver.next() != nil { count += 1 }
            }
        }
    }

    private func graphs<T: NSObject>(of type: T.Type, _ objects: [T]) throws -> Subject {
        let pipe = Pipe()
        let sender = try ArchiveSender(to: pipe.fileHandleForWriting)
        let receiver = try ArchiveReceiver(of: T.self, from: pipe.fileHandleForReading)
        let count = objects.count
        // They are not changed.
        nonisolated(unsafe) let objects = objects
        return Subject("ArchiveSender", isOurs: true) { _ in
            try TwoTasks.run {
                for object in objects { try await sender.send(object) }
                try await sender.flush()
            } while: {
                for _ in 0..<count { _ = try await receiver.next() }
            }
        }
    }

    // MARK: Peers

    private func jsonLines(_ cities: [City]) throws -> Subject {
        let pipe = try PeerPipe()
        return Subject("JSON lines") { _ in
            try pipe.turn { write in
                let encoder = JSONEncoder()
                for city in cities {
                    try write(encoder.encode(city))
                    try write(Data([UInt8(ascii: "\n")]))
                }
            } reading: { read in
                let decoder = JSONDecoder()
                var bytes: [UInt8] = []
                var count = 0
                while count < cities.count {
                    bytes += try read()
                    var start = 0
                    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                        blackHole(try decoder.decode(City.self, from: Data(bytes[start..<end])))
                        start = end + 1
                        count += 1
                    }
                    bytes.removeFirst(start)
                }
            }
        }
    }

    private func foundationGraphs<T: NSObject>(of type: T.Type, _ objects: [T]) throws -> Subject {
        let pipe = try PeerPipe()
        let count = objects.count
        // They are not changed.
        nonisolated(unsafe) let objects = objects
        return Subject("NSKeyedArchiver") { _ in
            try pipe.turn { write in
                for object in objects {
                    let archive = try FoundationArchive.write(object)
                    try withUnsafeBytes(of: UInt32(archive.count)) { try write(Data($0)) }
                    try write(archive)
                }
            } reading: { read in
                var bytes = Data()
                var left = count
                while left > 0 {
                    bytes += try read()
                    while bytes.count >= 4 {
                        let length = Int(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
                        guard bytes.count >= 4 + length else { break }
                        blackHole(try FoundationArchive.read(T.self, from: Data(bytes.dropFirst(4).prefix(length))))
                        bytes = Data(bytes.dropFirst(4 + length))
                        left -= 1
                    }
                }
            }
        }
    }
}
