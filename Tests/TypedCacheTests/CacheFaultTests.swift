import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// Memory and disk agree, whichever call to the system fails.
@Suite struct CacheFaultTests {
    /// An operation on a cache that holds `old` under "key".
    enum Action: CaseIterable, Sendable {
        case save, saveNew, remove, removeAll, fetch, contains

        func run(_ cache: Cache<City>) throws {
            switch self {
            case .save: try cache.save(CacheFaultTests.new, forKey: "key")
            case .saveNew: try cache.save(CacheFaultTests.new, forKey: "new")
            case .remove: try cache.remove(forKey: "key")
            case .removeAll: try cache.removeAll()
            case .fetch:
                let found = try cache.fetch(forKey: "key")
                #expect(found == CacheFaultTests.old)
            case .contains:
                let isThere = try cache.contains(forKey: "key")
                #expect(isThere)
            }
        }

        /// The values that a later fetch of the key may find.
        func allowed(_ key: String, hasFailed: Bool) -> [City?] {
            let before: City? = key == "key" ? CacheFaultTests.old : nil
            switch (self, key) {
            // A save that failed leaves nothing: the old value is out of date.
            case (.save, "key"), (.saveNew, "new"): return [hasFailed ? nil : CacheFaultTests.new]
            case (.remove, "key"): return [nil]
            case (.removeAll, "key"): return hasFailed ? [before, nil] : [nil]
            default: return [before]
            }
        }
    }

    private static let old = City(name: "old", population: 1)
    private static let new = City(name: "new", population: 2)

    private func cache(_ path: String, memory: MemorySettings, layer: FileLayer = FileLayer()) throws -> Cache<City>
    {
        Cache(
            name: "test",
            directory: URL(fileURLWithPath: path),
            store: try FileStore(directory: path, create: true, layer: layer) { EntryName($0) },
            settings: CacheSettings(memory: memory),
            isSendable: true
        )
    }

    @Test(arguments: Action.allCases, variants([MemorySettings(), .none], at: 0))
    func memoryAndDiskAgree(action: Action, memory: MemorySettings) throws {
        let count = try check(action, memory, failing: [:], lasting: false)
        // A walk through all directories of entries makes hundreds of calls, most of them alike.
        for index in stride(from: 0, to: count, by: isLongRun ? 1 : 3)
        where count < 100 || index < 20 || index % 25 == 0 || index > count - 20 {
            let once = [EIO, ENOSPC, EACCES, EMFILE, EINTR].map { (number: $0, isLasting: false) }
            for (number, isLasting) in variants(once + [(EROFS, true)], at: index) {
                try check(action, memory, failing: [index: number], lasting: isLasting)
            }
        }
    }

    /// - Parameter lasting: whether all later calls fail as well.
    /// - Returns: how many calls were made.
    @discardableResult
    private func check(
        _ action: Action,
        _ memory: MemorySettings,
        failing: [Int: Int32],
        lasting: Bool
    ) throws -> Int {
        let directory = TestDirectory(inMemory: true)
        let path = directory.url.path + "/test"
        let place: Comment = "\(action), \(failing), lasting: \(lasting)"
        try cache(path, memory: .none).save(Self.old, forKey: "key")

        let state = Mutex((isOn: false, count: 0))
        let layer = FileLayer { _ in
            state.withLock { state in
                guard state.isOn else { return .proceed }
                defer { state.count += 1 }
                let later = lasting ? failing.first { $0.key <= state.count }?.value : nil
                return (failing[state.count] ?? later).map { .fail($0) } ?? .proceed
            }
        }
        let cities = try cache(path, memory: memory, layer: layer)
        if action != .fetch, action != .contains { #expect(try cities.fetch(forKey: "key") == Self.old) }
        state.withLock { $0.isOn = true }
        var failure: CacheError?
        do {
            try action.run(cities)
        } catch let error as CacheError {
            failure = error
        }
        state.withLock { $0.isOn = false }
        #expect(failure == nil || failing.values.first != EINTR, place)
        #expect(failure == nil || failure?.code == .io, place)

        for key in ["key", "new"] {
            // This cache never serves an outdated value, even if its entry could not be removed.
            let found = try cities.fetch(forKey: key)
            #expect(action.allowed(key, hasFailed: failure != nil).contains(found), "\(key); \(place)")
            #expect(try cities.contains(forKey: key) == (found != nil), "\(key); \(place)")
            #expect(try cities.keys().all().contains(key) == (found != nil), "\(key); \(place)")
            // A cache that knows nothing of the failure may find an entry that could not be removed, if it is whole.
            let other = try cache(path, memory: .none).fetch(forKey: key)
            #expect(other == found || (failure != nil && [Self.old, Self.new].contains(other)), "\(key); \(place)")
        }
        // And all is well again once calls succeed.
        for key in ["key", "new"] {
            try cities.save(Self.new, forKey: key)
            #expect(try cities.fetch(forKey: key) == Self.new, place)
            #expect(try cache(path, memory: .none).fetch(forKey: key) == Self.new, place)
            #expect(try cities.remove(forKey: key), place)
            #expect(try cities.fetch(forKey: key) == nil, place)
        }
        return state.withLock { $0.count }
    }
}
