import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// A closed store holds no file and no lock, and every later call throws an error that says it is closed.
@Suite struct CloseTests {
    /// Where the open descriptors of this process lead that are below a path.
    private func descriptors(below path: String) throws -> [String] {
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let links = numbers.map { "/proc/self/fd/" + $0 }
        // One of them is of the listing itself, and gone.
        return links.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: $0) }
            .filter { $0.hasPrefix(path) }
    }

    /// Those on a disk: nothing of the others outlives them.
    private static let kinds = StoreUnderTest.allCases.filter {
        ![.reference, .memory, .limitedMemory].contains($0)
    }

    /// Calls that must all be refused.
    private static let calls: [(name: String, body: @Sendable (any ArchiveStore) throws -> Void)] = [
        ("save", { try $0.save([1], forKey: "a", storedAt: .now, expiresAt: nil) }),
        (
            "conditional save",
            { _ = try $0.save([1], forKey: "a", attributes: EntryAttributes(storedAt: .now)) { _ in true } }
        ),
        ("fetch", { _ = try $0.fetch(forKey: "0") }),
        ("peek", { _ = try $0.peek(forKey: "0") }),
        ("information", { _ = try $0.information(forKey: "absent") }),
        ("remove", { _ = try $0.remove(forKey: "0") }),
        ("remove all", { try $0.removeAll() }),
        ("remove tagged", { try $0.removeAll(tagged: "t") { _ in } }),
        ("remove expired", { try $0.removeExpired(at: .now) { _ in } }),
        ("remove damaged", { _ = try $0.removeDamagedEntries() }),
        ("trim", { try $0.trim(toByteCount: 0) { _ in } }),
        ("compact", { _ = try $0.compact() }),
        ("entries", { _ = try $0.entries(inPart: 0) }),
        ("for each", { try $0.forEachEntry { _ in true } }),
    ]

    @Test(arguments: kinds) func aClosedStoreHoldsNothingAndRefusesEverything(kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            for number in 0..<20 {
                try store.save([UInt8(number)], forKey: "\(number)", storedAt: .now, expiresAt: nil)
            }
            _ = try store.remove(forKey: "19")
            let former = try #require(try store.information(forKey: "0"))
            try store.close()
            for (name, body) in Self.calls {
                let error = #expect(throws: StoreError.self, "\(name)") { try body(store) }
                #expect(error?.code == .closed, "\(name)")
            }
            #expect(throws: StoreError.self) { try store.remove(former) }
            try store.close()
            let next = try open()
            for number in 0..<19 { #expect(try next.fetch(forKey: "\(number)")?.archive == [UInt8(number)]) }
            #expect(try next.fetch(forKey: "19") == nil)
        }
    }

    #if os(Linux)
        /// A store is closed while other threads use it: every acknowledged save is there, and no descriptor stays
        /// open.
        @Test(arguments: [false, true], variants([true, false], at: 0))
        func nothingStaysOpen(isPacked: Bool, isBehind: Bool) throws {
            try withTemporaryDirectory { path in
                let path = URL(filePath: path).resolvingSymlinksInPath().path + "/cache"
                var settings = StoreSettings()
                settings.byteLimit = 1 << 30
                func open() throws -> any ArchiveStore {
                    let below: any ArchiveStore =
                        isPacked
                        ? try PackedStore(directory: path, create: true, settings: settings)
                        : try FileStore(directory: path, create: true, settings: settings)
                    return isBehind ? WriteBehindStore(over: below, byteLimit: 10_000) : below
                }
                for round in 0..<8 {
                    let store = try open()
                    let saved = Mutex<[String]>([])
                    let others = DispatchGroup()
                    for thread in 0..<4 {
                        DispatchQueue.global().async(group: others) {
                            for number in 0..<2_000 {
                                let key = "\(round) \(thread) \(number)"
                                do {
                                    try store.save([1, 2, 3], forKey: key, storedAt: .now, expiresAt: nil)
                                    saved.withLock { $0.append(key) }
                                    _ = try store.fetch(forKey: key)
                                    try store.forEachEntry { _ in false }
                                } catch {
                                    #expect((error as? StoreError)?.code == .closed, "\(error)")
                                    return
                                }
                            }
                        }
                    }
                    try wait(until: saved.withLock { $0.count } >= 40 * round)
                    try store.close()
                    #expect(try descriptors(below: path) == [], "round \(round)")
                    others.wait()
                    #expect(try descriptors(below: path) == [], "round \(round)")
                    let next = try open()
                    for key in saved.withLock({ $0 }) {
                        #expect(try next.fetch(forKey: key)?.archive == [1, 2, 3], "\(key)")
                    }
                    try next.close()
                }
            }
        }

        /// The system has no lock of the store's directory, as another process sees it.
        @Test(arguments: [false, true]) func noLockStays(isPacked: Bool) throws {
            try withTemporaryDirectory { path in
                let path = path + "/cache"
                let store: any ArchiveStore =
                    isPacked
                    ? try PackedStore(directory: path, create: true)
                    : try FileStore(directory: path, create: true)
                // Enough of them for the packed store to keep its lock for a while.
                for number in 0..<2_000 {
                    try store.save([1], forKey: "\(number % 7)", storedAt: .now, expiresAt: nil)
                }
                try store.close()
                let files = try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 }
                for file in [path] + files {
                    let process = Process()
                    process.executableURL = URL(filePath: "/usr/bin/env")
                    process.arguments = ["flock", "--nonblock", file, "true"]
                    try process.start()
                    process.waitUntilExit()
                    #expect(process.terminationStatus == 0, "\(file)")
                }
            }
        }
    #endif

    @Test func aFailureOfADeferredSaveIsThrownByClosing() throws {
        let below = WriteBehindTests.SlowStore()
        below.open()
        below.state.withLock { $0.fails = ["a"] }
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        for key in ["a", "b"] { try store.save([1], forKey: key, storedAt: .now, expiresAt: nil) }
        #expect(throws: StoreError.self) { try store.close() }
        try store.close()
        #expect(try below.fetch(forKey: "b")?.archive == [1])
        #expect(throws: StoreError.self) { try store.fetch(forKey: "b") }
    }
}
