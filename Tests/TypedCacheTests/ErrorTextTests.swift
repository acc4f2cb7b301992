import ArchiveStore
import Foundation
import StoreTrials
import TestSupport
import Testing

@testable import TypedCache

/// The texts of errors: the cache, the key and the limits, each once, and never a value.
@Suite struct ErrorTextTests {
    private static let marker = "s3cret-marker"

    private struct Letter: Codable, Encoded { var text: String }
    private struct Number: Codable, Encoded { var text: Int }
    private struct Required: Codable, Encoded { var missing: Int }
    private enum Kind: String, Codable { case plain }
    private struct Sorted: Codable, Encoded { var text: Kind }
    private struct Linked: Codable, Encoded { var text: URL }

    private let directory = TestDirectory()

    /// The error that `body` throws.
    private func failure(_ body: () throws -> some Any) throws -> CacheError {
        do {
            _ = try body()
        } catch {
            return try #require(error as? CacheError)
        }
        throw CocoaError(.featureUnsupported)
    }

    private func count(_ part: String, in text: String) -> Int { text.components(separatedBy: part).count - 1 }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func aVolumeThatIsKeptFreeIsNotSaidToBeFull(layout: DiskSettings.Layout) throws {
        let disk = DiskSettings(layout: layout, minimumFreeSpace: .mebibytes(1 << 30))
        let letters = try Cache<Letter>(
            name: "letters",
            directory: directory.url,
            settings: CacheSettings(disk: disk)
        )
        let error = try failure { try letters.save(Letter(text: "x"), forKey: "a") }
        #expect(error.code == .io && error.errorNumber == ENOSPC)
        let ending = "the cache leaves 1024 TiB of the volume free (minimumFreeSpace)"
        #expect(error.message.hasSuffix(ending), "\(error.message)")
    }

    @Test func eachCallNamesItsCacheAndItsKeyOnce() throws {
        let letters = try Cache<Letter>(
            name: "letters",
            directory: directory.url,
            settings: CacheSettings(disk: DiskSettings(byteLimit: .kibibytes(64)))
        )
        try letters.save(Letter(text: "x"), forKey: "greeting")
        let numbers = try Cache<Number>(name: "letters", directory: directory.url)
        let large = Letter(
            text: String((0..<200_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) })
        )
        let errors: [(CacheError, CacheError.Code)] = [
            (try failure { try numbers.fetch(forKey: "greeting") }, .typeMismatch),
            (try failure { try numbers.modify(forKey: "greeting") { _ in } }, .typeMismatch),
            (try failure { try letters.save(large, forKey: "greeting", tags: [""]) }, .invalidTag),
            (try failure { try letters.modify(forKey: "greeting", tags: [""]) { $0 = large } }, .invalidTag),
            (try failure { try letters.save(large, forKey: "greeting") }, .tooLarge),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(error.cache == "letters" && error.key == "greeting", "\(error)")
            #expect(error.description.hasSuffix(#"(key "greeting", cache "letters")"#), "\(error)")
            #expect(count("greeting", in: error.description) == 1, "\(error)")
            #expect(error.localizedDescription == "\(error.description.dropFirst("\(error.code): ".count))")
            #expect(count("\(error.code)", in: error.description) == 1, "\(error)")
        }
    }

    @Test func asynchronousCallsAndLoadsDoSoToo() async throws {
        let letters = try Cache<Letter>(name: "letters", directory: directory.url)
        try await letters.save(Letter(text: "x"), forKey: "greeting")
        let numbers = try Cache<Number>(name: "letters", directory: directory.url)
        for call in [
            { _ = try await numbers.fetch(forKey: "greeting") },
            { _ = try await numbers.fetch(forKeys: ["greeting"]) },
            { _ = try await numbers.modify(forKey: "greeting") { _ in } },
        ] as [() async throws -> Void] {
            do {
                try await call()
                Issue.record("nothing was thrown")
            } catch {
                let error = try #require(error as? CacheError)
                #expect(error.cache == "letters" && error.key == "greeting", "\(error)")
            }
        }
    }

    @Test func producersExpirationsAndClosedCachesDoSoToo() async throws {
        let letters = try Cache<Letter>(name: "letters", directory: directory.url)
        let numbers = try Cache<Number>(name: "letters", directory: directory.url)
        try await letters.save(Letter(text: "x"), forKey: "greeting")
        let never = Expiration.at(Date(timeIntervalSinceReferenceDate: .nan))
        let letter = Letter(text: "y")
        let calls: [(CacheError.Code, String?, () async throws -> Void)] = [
            (.typeMismatch, "greeting", { _ = try await numbers.stored(forKey: "greeting") }),
            (
                .invalidExpiration, "greeting",
                { _ = try await letters.extend(forKey: "greeting", expiration: never) }
            ),
            (.invalidExpiration, "k", { _ = try await letters.fetch(forKey: "k", expiration: never) { letter } }),
            (.invalidTag, "k", { _ = try await letters.fetch(forKey: "k", tags: [""]) { _ in .new(letter) } }),
            (.invalidTag, nil, { _ = try await letters.fetch(forKeys: ["k"], tags: [""]) { _, _ in [:] } }),
            (.invalidKey, "", { _ = try await letters.fetch(forKeys: [""]) { _, _ in [:] } }),
            (.nothingToRevalidate, "k", { _ = try await letters.fetch(forKey: "k") { _ in .unchanged() } }),
            (
                .recursiveLoad, "k",
                {
                    _ = try await letters.fetch(forKey: "k") { try await letters.fetch(forKey: "k") { letter } }
                }
            ),
        ]
        for (code, key, call) in calls { try await check(code, key, call) }
        try await letters.close()
        let closed: [() async throws -> Void] = [
            { _ = try await letters.fetch(forKey: "k") }, { try await letters.save(letter, forKey: "k") },
            { _ = try letters.entries().all() }, { try await letters.flush() },
        ]
        for call in closed { try await check(.closed, nil, call) }
    }

    private func check(_ code: CacheError.Code, _ key: String?, _ call: () async throws -> Void) async throws {
        let error = await #expect(throws: CacheError.self, "\(code)") { try await call() }
        #expect(error?.code == code && error?.cache == "letters" && error?.key == key, "\(code): \(error as Any)")
        let text = error?.description ?? ""
        #expect(key.map { count("\"\($0)\"", in: text) + count("“\($0)”", in: text) } ?? 1 == 1, "\(text)")
    }

    @Test func callsForNoKeyNameTheCache() throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store)
        store.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
        for error in [
            try failure { try cities.removeAll(tagged: "x") }, try failure { try cities.removeAll(tagged: "") },
        ] {
            #expect(error.cache == "test" && error.key == nil)
            #expect(error.description.hasSuffix(#"(cache "test")"#), "\(error)")
        }
        let error = try failure { try Cache<City>(name: "a/b", directory: directory.url) }
        #expect(error.cache == "a/b")
    }

    @Test func theTypesAreNamedOnce() throws {
        let letters = try Cache<Letter>(name: "letters", directory: directory.url)
        try letters.save(Letter(text: "x"), forKey: "x")
        let numbers = try Cache<Number>(name: "letters", directory: directory.url)
        let error = try failure { try numbers.fetch(forKey: "x") }
        #expect(count("Letter,", in: error.message) == 1 && count("Number", in: error.message) == 1, "\(error)")
        #expect(!error.message.contains("typeMismatch"))
        // A program's user may have no command.
        #expect(!error.description.contains("typed-cache"), "\(error)")
    }

    @Test func codesArePatterns() throws {
        let letters = try Cache<Letter>(name: "letters", directory: directory.url)
        do {
            _ = try letters.fetch(forKey: "")
            Issue.record("an empty key was taken")
        } catch CacheError.Code.typeMismatch {
            Issue.record("not the code of this error")
        } catch CacheError.Code.invalidKey {
            // Expected.
        }
        do {
            throw CancellationError()
        } catch CacheError.Code.cancelled {
            Issue.record("an error of another type")
        } catch {
            // Expected.
        }
    }

    @Test func bothTypesAreNamedInsideAValue() throws {
        struct Year: Codable, Encoded { var year: Int }
        struct NamedYear: Codable, Encoded {
            static var formerNames: [String] { Year.archivedNames }
            var year: String
        }
        let years = try Cache<Year>(name: "years", directory: directory.url)
        try years.save(Year(year: 1_984), forKey: "x")
        let named = try Cache<NamedYear>(name: "years", directory: directory.url)
        let error = try failure { try named.fetch(forKey: "x") }
        #expect(error.code == .decodingFailed)
        #expect(
            error.message.hasPrefix(
                "it cannot be decoded as NamedYear: an integer, where String is expected, at year"
            ),
            "\(error)"
        )
    }

    @Test func limitsAreToldInNumbers() throws {
        let pictures = try Cache<Data>(
            name: "pictures",
            settings: CacheSettings(memory: MemorySettings(byteLimit: .mebibytes(1)), disk: nil)
        )
        let error = try failure { try pictures.save(Data(count: (1 << 20) + 1), forKey: "x") }
        #expect(error.code == .tooLarge)
        #expect(error.message.contains("1.1 MiB are more than the limit of 1 MiB"), "\(error)")
    }

    @Test func oddAndLongNamesAreShownSafely() throws {
        let cities = try Cache<City>(name: "cities", directory: directory.url)
        let odd = "a\n\u{202E}\"b"
        try cities.save(City(name: "x", population: 1), forKey: odd)
        let villages = try Cache<Village>(name: "cities", directory: directory.url)
        var error = try failure { try villages.fetch(forKey: odd) }
        #expect(error.key == odd)
        #expect(error.description.contains(#"key "a\n\u{202e}\"b""#), "\(error)")
        let long = String(repeating: "k", count: 5_000)
        error = try failure { try cities.fetch(forKey: long) }
        #expect(error.code == .invalidKey && error.key == long)
        #expect(error.description.count < 300)
    }

    /// Values that are saved, and refused by other types that the entry is asked for as.
    @Test func noTextContainsAValue() throws {
        let marker = Self.marker
        let letters = try Cache<Letter>(name: "letters", directory: directory.url)
        try letters.save(Letter(text: marker), forKey: "x")
        let archive = try #require(try letters.core.store.fetch(forKey: "x")?.archive)
        func texts<Value: Encoded>(as type: Value.Type) throws -> String where Value.Wrapper.Value == Value {
            let name = "\(type)"
            let cache = try Cache<Value>(name: name, directory: directory.url)
            // The archive says that it is a value of this type, so that it is decoded.
            let renamed = try renamed(archive, from: "Letter", to: name)
            let attributes = EntryAttributes(storedAt: .now)
            let inspector = try CacheInspector(name: name, root: directory.url, program: "tests", create: false)
            _ = try inspector.save(archive: renamed, forKey: "x", attributes: attributes, replaces: true)
            let error = try failure { try cache.fetch(forKey: "x") }
            #expect(error.code == .decodingFailed, "\(error)")
            return "\(error) \(error.localizedDescription) \(error.message)"
        }
        let all = [
            try texts(as: Number.self), try texts(as: Required.self), try texts(as: Sorted.self),
            "\(try failure { try Cache<[Int]>(name: "letters", directory: directory.url).fetch(forKey: "x") })",
        ]
        for text in all { #expect(!text.contains(marker), "\(text)") }
        let strings = try Cache<String>(name: "strings", directory: directory.url)
        try strings.save(marker, forKey: "x")
        for error in [
            try failure { try Cache<Int>(name: "strings", directory: directory.url).fetch(forKey: "x") },
            try failure { try Cache<URL>(name: "strings", directory: directory.url).fetch(forKey: "x") },
            try failure { try Cache<[String: Int]>(name: "strings", directory: directory.url).fetch(forKey: "x") },
            try failure { try Cache<City>(name: "strings", directory: directory.url).fetch(forKey: "x") },
        ] {
            #expect(!"\(error) \(error.localizedDescription)".contains(marker), "\(error)")
            #expect(error.code == .typeMismatch || error.code == .decodingFailed)
        }
    }

    private func renamed(_ archive: [UInt8], from: String, to: String) throws -> [UInt8] {
        var tree = try #require(
            PropertyListSerialization.propertyList(from: Data(archive), format: nil) as? [String: Any]
        )
        var objects = try #require(tree["$objects"] as? [Any])
        for (index, object) in objects.enumerated() {
            guard var names = object as? [String: Any], let name = names["$classname"] as? String else { continue }
            names["$classname"] = name.replacingOccurrences(of: from, with: to)
            names["$classes"] = (names["$classes"] as? [String])?.map {
                $0.replacingOccurrences(of: from, with: to)
            }
            objects[index] = names
        }
        tree["$objects"] = objects
        return [UInt8](try PropertyListSerialization.data(fromPropertyList: tree, format: .binary, options: 0))
    }
}
