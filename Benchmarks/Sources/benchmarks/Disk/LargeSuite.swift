import BenchmarkKit
import Foundation
import TypedCache

/// Values of megabytes: one that does not shrink, as an image in a file does not, and text.
///
/// Nothing is kept in memory except in the system's own cache of files.
struct LargeSuite: Suite {
    static let name = "large"
    static let summary = "saving and fetching values of 1 to 5 MiB, beside plain files"

    private static let keys = (0..<8).map { "value-\($0)" }

    func run(_ context: Context) throws {
        for size in context.isQuick ? [4] : [1, 2, 4, 5] {
            let parameters = ["size": "\(size) MiB"]
            let picture = Picture(content: Self.noise(byteCount: size << 20))
            try compare(
                context,
                object: "a value that does not shrink",
                parameters: parameters,
                value: picture,
                bytes: picture.content
            )
            let document = try Document.archived(bytes: size << 20)
            try compare(
                context,
                object: "a text",
                parameters: parameters,
                value: document,
                bytes: Data(document.text.utf8)
            )
        }
    }

    private func compare<Value: Encoded & Sendable>(
        _ context: Context,
        object: String,
        parameters: [String: String],
        value: Value,
        bytes: Data
    ) throws where Value.Wrapper.Value == Value {
        let folder = try context.makeFolder("large")
        let caches = try [DiskSettings.Layout.packed, .files].map { layout in
            try Cache<Value>(
                name: layout.rawValue,
                directory: folder,
                settings: CacheSettings(memory: .none, disk: DiskSettings(layout: layout))
            )
        }
        func key(_ index: Int) -> String { Self.keys[index % Self.keys.count] }
        func file(_ index: Int) -> URL { folder.appending(path: key(index)) }
        for index in Self.keys.indices {
            for cache in caches { try cache.save(value, forKey: key(index)) }
            try bytes.write(to: file(index), options: .atomic)
        }

        try context.compare(
            work: "save over \(object)",
            parameters: parameters,
            subjects: caches.map { cache in
                Subject("Cache, \(cache.name)", isOurs: true) { try cache.save(value, forKey: key($0)) }
            } + [Subject("Data.write(.atomic)") { try bytes.write(to: file($0), options: .atomic) }]
        )
        try context.compare(
            work: "fetch \(object)",
            parameters: parameters,
            subjects: caches.map { cache in
                Subject("Cache, \(cache.name)", isOurs: true) { try cache.fetch(forKey: key($0)) }
            } + [Subject("Data(contentsOf:)") { try Data(contentsOf: file($0)) }]
        )
        for cache in caches { try cache.removeAll() }
    }

    /// The same bytes in every run.
    private static func noise(byteCount: Int) -> Data {
        var state: UInt64 = 42
        var bytes = Data(capacity: byteCount + 8)
        while bytes.count < byteCount {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // The high half: the low one repeats.
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: state >> 32)) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(byteCount)
    }
}

/// Bytes, without a type of their own.
struct Picture: Codable, Encoded {
    let content: Data
}
