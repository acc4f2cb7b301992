import Foundation
import TestSupport
import Testing

@testable import KeyedArchive
@testable import TypedCache

/// Values of types that the program need not declare anything for.
@Suite struct ValueTests {
    private let directory = TestDirectory()

    /// Saves values and fetches them from memory and from disk, blocking and suspending.
    private func keep<Value: Encoded & Equatable & Sendable>(
        _ values: Value...,
        layout: DiskSettings.Layout
    ) async throws where Value.Wrapper.Value == Value {
        let disk = DiskSettings(layout: layout)
        let root = directory.url.appending(path: "\(layout)")
        let cache = try Cache<Value>(name: "cache", directory: root, settings: CacheSettings(disk: disk))
        #expect(cache.sharesValues, "\(Value.self)")
        try await cache.removeAll()
        try keep(values, in: cache)
        try keep(values, in: Cache<Value>(name: "cache", directory: root, settings: CacheSettings(disk: disk)))
        let reopened = try Cache<Value>(name: "cache", directory: root, settings: CacheSettings(disk: disk))
        for (index, value) in values.enumerated() {
            try await cache.save(value, forKey: "again \(index)")
            #expect(try await reopened.fetch(forKey: "again \(index)") == .some(value), "\(Value.self)")
        }
    }

    private func keep<Value: Encoded & Equatable & Sendable>(
        _ values: [Value],
        in cache: Cache<Value>
    ) throws where Value.Wrapper.Value == Value {
        for (index, value) in values.enumerated() where try !cache.contains(forKey: index) {
            try cache.save(value, forKey: index)
        }
        for (index, value) in values.enumerated() {
            #expect(try cache.fetch(forKey: index) == .some(value), "\(Value.self)")
        }
        #expect(try cache.fetch(forKey: "none") == Value?.none)
    }

    /// An archive does not tell `.some(nil)` from `nil`.
    @Test(arguments: [MemorySettings(), .none])
    func nilWithinAnOptionalIsRefused(memory: MemorySettings) throws {
        let cache = try Cache<Int??>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(memory: memory)
        )
        try cache.save(1, forKey: "a")
        #expect(code { try cache.save(.some(nil), forKey: "a") } == .encodingFailed)
        try cache.save(nil, forKey: "b")
        #expect(try cache.fetch(forKey: "b") == .some(nil))
        let lists = try Cache<[Int]???>(
            name: "lists",
            directory: directory.url,
            settings: CacheSettings(memory: memory)
        )
        #expect(code { try lists.save(.some(.some(nil)), forKey: "a") } == .encodingFailed)
        try lists.save([], forKey: "b")
        #expect(try lists.fetch(forKey: "b") == .some([]))
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func eachComesBackAsItWas(_ layout: DiskSettings.Layout) async throws {
        try await keep("", "a", "🦁 e\u{301}", String(repeating: "x", count: 100_000), "$null", layout: layout)
        try await keep(true, false, layout: layout)
        try await keep(Int.min, -1, 0, 1, .max, layout: layout)
        try await keep(Int8.min, 0, .max, layout: layout)
        try await keep(Int16.min, 0, .max, layout: layout)
        try await keep(Int32.min, 0, .max, layout: layout)
        try await keep(Int64.min, 0, .max, layout: layout)
        try await keep(UInt.min, 1, .max, layout: layout)
        try await keep(UInt8.min, 1, .max, layout: layout)
        try await keep(UInt16.min, 1, .max, layout: layout)
        try await keep(UInt32.min, 1, .max, layout: layout)
        try await keep(UInt64.min, 1, .max, layout: layout)
        try await keep(Float.pi, -.infinity, .leastNonzeroMagnitude, 0, layout: layout)
        try await keep(Double.pi, -.infinity, .leastNonzeroMagnitude, 0, layout: layout)
        try await keep(Data(), Data([0]), Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) }), layout: layout)
        try await keep(Date(timeIntervalSinceReferenceDate: 0.1), .distantPast, .distantFuture, layout: layout)
        try await keep(Decimal(0), try #require(Decimal(string: "-3.14159265358979323846")), layout: layout)
        try await keep(
            try #require(URL(string: "https://example.org/a?b=c#d")),
            URL(filePath: "/tmp/a b"),
            layout: layout
        )
        try await keep(UUID(), UUID(), layout: layout)
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func soDoCollections(_ layout: DiskSettings.Layout) async throws {
        try await keep([Int](), [1, 2], layout: layout)
        try await keep([["a"], []], [["b", "c"]], layout: layout)
        try await keep([Data([1]), Data()], layout: layout)
        try await keep(["a": [1, 2], "b": []], [:], layout: layout)
        try await keep([1: "a"], [:], layout: layout)
        try await keep([UUID(): Date.distantPast], layout: layout)
        try await keep(Set([1, 2, 3]), [], layout: layout)
        try await keep(Set(["a"]), layout: layout)
        try await keep([1, nil, 3] as [Int?], [nil], layout: layout)
        try await keep(["a": nil, "b": 1] as [String: Int?], layout: layout)
        try await keep([City(name: "a", population: 1)], [], layout: layout)
        try await keep(["x": City(name: "a", population: 1)], layout: layout)
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func soDoOptionals(_ layout: DiskSettings.Layout) async throws {
        try await keep("a" as String?, nil, "", layout: layout)
        try await keep(1 as Int?, nil, layout: layout)
        try await keep(Data([1]) as Data?, nil, layout: layout)
        try await keep([1] as [Int]?, nil, [], layout: layout)
        try await keep(City(name: "a", population: 1) as City?, nil, layout: layout)
    }

    @Test func notANumberStaysOne() throws {
        let numbers = try Cache<Double>(name: "cache", directory: directory.url)
        try numbers.save(.nan, forKey: "nan")
        try numbers.save(-0.0, forKey: "zero")
        let reopened = try Cache<Double>(name: "cache", directory: directory.url)
        #expect(try reopened.fetch(forKey: "nan")?.isNaN == true)
        #expect(try reopened.fetch(forKey: "zero")?.sign == .minus)
    }

    @Test func anotherTypeIsRefused() throws {
        try Cache<String>(name: "cache", directory: directory.url).save("a", forKey: "a")
        let numbers = try Cache<[Int]>(name: "cache", directory: directory.url)
        let error = #expect(throws: CacheError.self) { try numbers.fetch(forKey: "a") }
        #expect(error?.code == .typeMismatch)
    }

    /// Foundation's own unarchiver reads such archives.
    @Test func foundationReadsThem() throws {
        func archive<Value: Encoded>(_ value: Value) throws -> Data where Value.Wrapper.Value == Value {
            let cache = try Cache<Value>(name: "cache", directory: directory.url)
            try cache.save(value, forKey: "x")
            return Data(try #require(try cache.core.store.fetch(forKey: "x")?.archive))
        }
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSString.self, from: archive("text")) == "text")
        let bytes = Data([1, 2, 3])
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSData.self, from: archive(bytes)) as Data? == bytes
        )
        let numbers = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSNumber.self],
            from: archive([1, 2])
        )
        #expect(numbers as? [Int] == [1, 2])
        let names = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self],
            from: archive(["a": "b"])
        )
        #expect(names as? [String: String] == ["a": "b"])
    }

    /// Bytes go into an archive as they are, not one by one: the archive is hardly larger than they are.
    @Test func dataIsArchivedAsBytes() throws {
        let pictures = try Cache<Data>(name: "cache", directory: directory.url)
        try pictures.save(Data(repeating: 7, count: 1 << 20), forKey: "x")
        let archive = try #require(try pictures.core.store.fetch(forKey: "x")?.archive)
        #expect(archive.count < (1 << 20) + 1_000)
    }
}
