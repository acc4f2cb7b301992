import Foundation
import Synchronization

/// The lists of a store that say which entries have a deadline and which a tag, so that neither is searched for.
///
///     <directory>/.wheel/<bucket>    names by when their entries are due, see `WheelBucket`
///                 .tags/<32 hex>     names by tag: the SipHash-2-4-128 of its UTF-8 bytes
///                 .wheel/listed      every entry from before there were lists is listed
///
/// An entry is listed when it gains a tag, or a deadline earlier than that of the entry it replaces. When a deadline
/// moves later, the name stays in its list, and is listed again when it is met there. So an entry that is due at some
/// time is in a list for a span that has begun by then.
final class EntryLists: Sendable {
    static let wheelName = ".wheel"
    static let tagsName = ".tags"
    private static let markName = "listed"

    private let root: Directory
    private let path: String
    let names: EntryNames
    /// Whether to wait until a name is on the device, before its entry is: only a list leads to an entry by deadline or
    /// tag.
    private let isDurable: Bool
    private let wheel = Mutex<Held>(Held())
    private let tags = Mutex<Held>(Held())
    private let sweptAt = Mutex(-Double.infinity)

    private struct Held {
        var directory: Directory?
        /// The one that was appended to last.
        var list: OpenList?
    }

    init(of root: Directory, path: String, names: EntryNames, isDurable: Bool) {
        self.names = names
        self.root = root
        self.path = path
        self.isDurable = isDurable
    }

    /// Makes system calls for the lists.
    func attempting<Result>(_ body: () throws(SystemError) -> Result) throws(StoreError) -> Result {
        try attempt("keeping the lists of entries", path, body)
    }

    /// Lists an entry that is about to be saved, while its shard is locked.
    ///
    /// - Parameters:
    ///   - former: the attributes of the entry that is replaced.
    ///   - now: in seconds since 2001-01-01 UTC.
    /// - Returns: the lists that have doubled.
    func add(
        _ name: EntryName,
        _ attributes: EntryAttributes,
        replacing former: EntryAttributes?,
        now: Double
    ) throws(StoreError) -> [(directory: String, list: String)] {
        var doubled: [(String, String)] = []
        if let deadline = attributes.usableUntil?.timeIntervalSinceReferenceDate, deadline < .infinity {
            let earlier = former?.usableUntil?.timeIntervalSinceReferenceDate ?? .infinity
            let bucket = names.list(of: WheelBucket(deadline: deadline, now: now))
            if deadline < earlier, try append(name, to: bucket, in: Self.wheelName, wheel) {
                doubled.append((Self.wheelName, bucket))
            }
        }
        for tag in attributes.tags where former?.tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true {
            let list = names.list(ofTag: tag)
            if try append(name, to: list, in: Self.tagsName, tags) { doubled.append((Self.tagsName, list)) }
        }
        return doubled
    }

    /// Lists an entry that was found in another list, while its shard is locked.
    func add(_ name: EntryName, to list: String, of folder: String) throws(StoreError) {
        if folder == Self.tagsName {
            _ = try append(name, to: list, in: folder, tags)
        } else {
            _ = try append(name, to: list, in: folder, wheel)
        }
    }

    /// Whether it is time to look for entries that are due, where room is needed: every 16 seconds, by the times of
    /// saves.
    func isTimeToSweep(_ now: Double) -> Bool {
        sweptAt.withLock { sweptAt in
            // Or the clock was set back.
            guard now >= sweptAt + 16 || now < sweptAt else { return false }
            sweptAt = now
            return true
        }
    }

    private func append(
        _ entry: EntryName,
        to list: String,
        in folder: String,
        _ held: borrowing Mutex<Held>
    ) throws(StoreError) -> Bool {
        try held.withLock { held throws(StoreError) in
            try attempting { () throws(SystemError) in
                if let directory = held.directory {
                    do throws(SystemError) {
                        return try append(entry, to: list, in: directory, &held)
                    } catch {
                        // The folder of the lists was deleted: from now on there is another one.
                        guard error.isMissing else { throw error }
                    }
                }
                try root.makeDirectory(folder)
                let directory = try root.directory(folder)
                if isDurable { try root.synchronize() }
                held = Held(directory: directory)
                return try append(entry, to: list, in: directory, &held)
            }
        }
    }

    private func append(
        _ entry: EntryName,
        to list: String,
        in directory: Directory,
        _ held: inout Held
    ) throws(SystemError) -> Bool {
        let former = held.list?.identity
        let isDoubled = try NameList(directory: directory).append(entry, to: list, keeping: &held.list)
        guard isDurable else { return isDoubled }
        try held.list?.file.synchronize()
        if held.list?.identity != former { try directory.synchronize() }
        return isDoubled
    }

    /// The lists in `folder`; `nil` if there is none.
    func lists(in folder: String) throws(StoreError) -> NameList? {
        try attempting { () throws(SystemError) in
            do throws(SystemError) {
                return NameList(directory: try root.directory(folder))
            } catch {
                if error.isMissing { return nil }
                throw error
            }
        }
    }

    // MARK: Entries from before there were lists

    /// Whether all entries are listed that were there before.
    func isComplete() throws(StoreError) -> Bool {
        guard let wheel = try lists(in: Self.wheelName) else { return false }
        return try attempting { () throws(SystemError) in try wheel.directory.status(Self.markName) != nil }
    }

    func markComplete() throws(StoreError) {
        try attempting { () throws(SystemError) in
            try root.makeDirectory(Self.wheelName)
            _ = try root.directory(Self.wheelName).list(Self.markName, create: true)
        }
    }
}
