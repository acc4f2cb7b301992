import Foundation
import Synchronization

/// The classes that names in archives stand for, where a program knows better than the runtime.
struct GivenClasses {
    private struct Entry: @unchecked Sendable {
        // A metatype is immutable; AnyClass lacks the conformance only because its instances may not be.
        let cls: AnyClass
    }

    private var entries: [String: Entry] = [:]

    /// The class for a name: an unarchiver's own, or the process's.
    func find(_ name: String) -> AnyClass? { self[name] ?? Self.ofProcess(name) }

    /// Whether any name was given, here or in the process.
    var isEmpty: Bool { entries.isEmpty && !Self.isUsed.load(ordering: .acquiring) }

    subscript(name: String) -> AnyClass? {
        get { entries[name]?.cls }
        set { entries[name] = newValue.map { Entry(cls: $0) } }
    }

    // MARK: For the process

    private static let classes = Mutex(GivenClasses())
    private static let isUsed = Atomic<Bool>(false)

    static func ofProcess(_ name: String) -> AnyClass? {
        guard isUsed.load(ordering: .acquiring) else { return nil }
        return classes.withLock { $0.entries[name] }?.cls
    }

    static func set(forProcess cls: AnyClass?, for name: String) {
        let entry = cls.map { Entry(cls: $0) }
        classes.withLock { $0.entries[name] = entry }
        isUsed.store(true, ordering: .releasing)
    }
}
