import ArchiveStore
import Foundation

/// How memory holds the values of a cache, and their cost there.
struct MemoryForm<Value>: Sendable {
    /// Whether memory holds the values themselves; else it holds their archives.
    let sharesValues: Bool
    /// `nil`: a value costs as many bytes as its archive.
    let cost: (@Sendable (Value) -> ByteCount)?
    /// At hand, so that the runtime is not asked for it with each entry.
    let entryType = ValueEntry<Value>.self

    /// The memory entry of a value. Calls user code, so it must run without any lock.
    func entry(
        _ value: Value,
        of key: EntryKey,
        archive: [UInt8],
        _ attributes: EntryAttributes,
        timing: EntryTiming?
    ) -> MemoryEntry {
        let deadline = attributes.memoryDeadline
        guard sharesValues else {
            return ArchiveEntry(archive, key: key, cost: archive.count, deadline: deadline, timing: timing)
        }
        // Not by `map`, which asks the runtime for its types.
        let bytes = if let cost { cost(value).bytes } else { archive.count }
        return entryType.init(value, key: key, cost: bytes, deadline: deadline, timing: timing)
    }

    /// The memory entry of a value that was read.
    ///
    /// - Parameter timing: the entry's, where its deadline is still on its way to disk.
    func entry(
        _ value: Value,
        of key: EntryKey,
        _ stored: StoredArchive,
        timing: EntryTiming? = nil
    ) -> MemoryEntry {
        let attributes = stored.information.attributes
        let timing = timing ?? EntryTiming.of(attributes, entry: stored.information)
        let entry = entry(value, of: key, archive: stored.archive, attributes, timing: timing)
        entry.version = stored.information.identity.version
        return entry
    }
}
