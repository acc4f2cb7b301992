import Foundation
import Synchronization

/// The names under which a program wants its classes archived, where they are not the classes' own.
///
/// An archiver's own names come first, then the process's.
struct GivenClassNames {
    private var entries: [ObjectIdentifier: ArchivedClass] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The entry to write for a class.
    func entry(for info: ArchivedClass) -> ArchivedClass {
        guard let type = info.type else { return info }
        return entries[type] ?? Self.ofProcess(type) ?? info
    }

    subscript(cls: AnyClass) -> String? {
        get { entries[ObjectIdentifier(cls)]?.name }
        set { entries[ObjectIdentifier(cls)] = newValue.map { Self.entry($0, for: cls) } }
    }

    private static func entry(_ name: String, for cls: AnyClass) -> ArchivedClass {
        let own = ArchivedClass.of(cls)
        // Apple's archiver leaves out the chain of a renamed class, and so its real name.
        return name == own.name ? own : ArchivedClass(name: name, chain: [])
    }

    // MARK: For the process

    private static let names = Mutex(GivenClassNames())
    /// Whether a name was ever given for the process: nearly always not, and then no reader takes the lock.
    private static let isUsed = Atomic<Bool>(false)

    private static func ofProcess(_ type: ObjectIdentifier) -> ArchivedClass? {
        guard isUsed.load(ordering: .acquiring) else { return nil }
        return names.withLock { $0.entries[type] }
    }

    static func name(ofProcessFor cls: AnyClass) -> String? { ofProcess(ObjectIdentifier(cls))?.name }

    static func set(forProcess name: String?, for cls: AnyClass) {
        let entry = name.map { Self.entry($0, for: cls) }
        names.withLock { $0.entries[ObjectIdentifier(cls)] = entry }
        isUsed.store(true, ordering: .releasing)
    }
}
