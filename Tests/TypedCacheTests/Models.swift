import Foundation
import Synchronization
import Testing

@testable import ArchiveStore
@testable import TypedCache

// The classic pattern, as users write it.

struct Coordinate: Equatable {
    let latitude: Double
    let longitude: Double
}

final class EncodableCoordinate: NSObject, NSCoding {
    let coordinate: Coordinate?

    init(coordinate: Coordinate?) { self.coordinate = coordinate }

    required init?(coder decoder: NSCoder) {
        guard let latitude = decoder.decodeObject(forKey: "latitude") as? Double,
            let longitude = decoder.decodeObject(forKey: "longitude") as? Double
        else { return nil }
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }

    func encode(with encoder: NSCoder) {
        encoder.encode(coordinate?.latitude, forKey: "latitude")
        encoder.encode(coordinate?.longitude, forKey: "longitude")
    }
}

extension EncodableCoordinate: WrapperEncoder { var value: Coordinate? { coordinate } }
extension Coordinate: Encoded { var encoder: EncodableCoordinate { .init(coordinate: self) } }

struct City: Codable, Encoded, Equatable {
    var name: String
    var population: Int
    var latitude = 1.5
}

struct Village: Codable, Encoded, Equatable {
    var name: String
    var population: Int
    var latitude = 1.5
}

class Order: NSObject, NSCoding {
    var order: String

    init(order: String) { self.order = order }

    required init?(coder: NSCoder) {
        guard let order = coder.decodeObject(forKey: "order") as? String else { return nil }
        self.order = order
    }

    func encode(with coder: NSCoder) { coder.encode(order, forKey: "order") }
}

extension Order: WrapperEncoder { var value: Order? { self } }
extension Order: Encoded { var encoder: Order { self } }

class Family: Order {
    var family: String

    init(order: String, family: String) {
        self.family = family
        super.init(order: order)
    }

    required init?(coder: NSCoder) {
        guard let family = coder.decodeObject(forKey: "family") as? String else { return nil }
        self.family = family
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(family, forKey: "family")
    }
}

final class SubFamily: Family {}

/// Throws when it is encoded, if it is told to.
struct Fickle: Codable, Encoded, Equatable {
    var text: String

    init(_ text: String) { self.text = text }

    func encode(to encoder: any Encoder) throws {
        if text == "bad" { throw CocoaError(.coderInvalidValue) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
    }
}

/// A clock that is moved by hand.
final class TestClock: CacheClock {
    private let time = Mutex(Date(timeIntervalSinceReferenceDate: 1_000_000))

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}

/// A folder of a test's own, removed when the test ends.
final class TestDirectory {
    let url: URL

    /// - Parameter inMemory: whether it is in memory, where the system has room for files there: for tests that
    ///   make very many of them.
    init(inMemory: Bool = false) {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (hasMemory ? memory : FileManager.default.temporaryDirectory).appending(
            path: "typed-cache-tests-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
    }

    deinit {
        // A cache may still be doing its last work in the background.
        for _ in 0..<20 where FileManager.default.fileExists(atPath: url.path) {
            if (try? FileManager.default.removeItem(at: url)) == nil { usleep(10_000) }
        }
    }

    /// What the cache with this name has its entries in.
    func store(_ name: String) throws -> any ArchiveStore {
        let path = url.appending(path: name).path
        return switch StoreKind(directory: path) {
        case .packed: try PackedStore(directory: path, create: true)
        case .file, nil: try FileStore(directory: path, create: true)
        }
    }

    /// How many entries there are on disk, damaged ones included.
    func entryCount(_ name: String) throws -> Int {
        var count = 0
        try store(name).forEachEntry { _ in
            count += 1
            return true
        }
        return count
    }

    /// Where the entry lies that was saved last in a cache of few entries: its file, and its bytes in that.
    func lastEntry(_ name: String) throws -> (file: URL, bytes: Range<Int>) {
        let folder = url.appending(path: name)
        guard StoreKind(directory: folder.path) == .packed else {
            let file = try #require(try entryFiles(name).first)
            return (file, 0..<(try Data(contentsOf: file).count))
        }
        var latest: EntryInformation?
        try store(name).forEachEntry { entry in
            if case .success(let entry) = entry, entry.identity.isLater(than: latest?.identity) { latest = entry }
            return true
        }
        let entry = try #require(latest)
        let segments = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix("segment")
        }
        let file = folder.appending(path: try #require(segments.max()))
        let bytes = try Data(contentsOf: file)
        return (file, (bytes.count - entry.storedByteCount)..<bytes.count)
    }

    /// Changes a byte in the middle of the entry that was saved last.
    func damageEntry(_ name: String) throws {
        let (file, bytes) = try lastEntry(name)
        try flip(file, at: (bytes.lowerBound + bytes.upperBound) / 2)
    }

    /// Changes a byte of a file where it stands.
    func flip(_ file: URL, at offset: Int, mask: UInt8 = 0xFF) throws {
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data([byte ^ mask]))
    }

    /// The files of the entries in a cache of files.
    func entryFiles(_ name: String) throws -> [URL] {
        let root = url.appending(path: name)
        return try FileManager.default.subpathsOfDirectory(atPath: root.path)
            .filter { !$0.hasPrefix(".") && $0.contains("/") }
            .map { root.appending(path: $0) }
    }
}
