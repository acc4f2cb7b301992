import ArchiveStore
import Dispatch
import Foundation
import Synchronization
import TypedCache

/// Archives on a server, of which this machine's disk has copies.
///
/// The server decides: a copy is used unasked only if it was compared with the server's entry, by 59 bytes, or came from
/// there, and no change was heard of since, see ``NearCopies``. Any other copy is compared at its next use. After a start,
/// and after a connection was lost, that is each.
///
/// A change goes to the server first, and to the disk if no other change of the key was heard of in the meantime; a removal
/// goes to the disk, to the server, and to the disk again. A disk that fails costs speed alone: its errors are counted,
/// and the server is asked.
///
/// Beside the laws that ``SharedStore`` does not keep, the limits of the disk hold for copies only.
package final class TieredStore: LoadingStore {
    let near: any ArchiveStore
    let shared: SharedStore
    private let copies = Mutex(NearCopies())
    /// Where asynchronous calls read the disk.
    private let queue = DispatchQueue(label: "typed-cache.near-disk", qos: .userInitiated, attributes: .concurrent)
    /// Where copies are changed, one after another.
    private let changes = DispatchQueue(label: "typed-cache.near-changes", qos: .utility)
    /// The bytes of archives that wait there, and some for each change.
    private let waitingByteCount = Atomic<Int>(0)
    private static let mostWaitingBytes = 16 << 20
    private static let bytesOfChange = 64 << 10
    /// Whether the server tells of changes; otherwise each use of a copy asks.
    private let hears: Bool

    package init(near: any ArchiveStore, shared: SharedStore) {
        self.near = near
        self.shared = shared
        hears = shared.settings.coherence == .invalidated
        shared.setListener { [weak self] heard in self?.take(heard) }
    }

    package func close() throws(StoreError) {
        try shared.close()
        queue.sync(flags: .barrier) {}
        finishChanges()
        try near.close()
    }

    package func flush() throws(StoreError) {
        finishChanges()
        try near.flush()
    }

    package func settle(_ key: String?) { near.settle(key) }
    package var knownSize: KnownSize? { near.knownSize }

    // MARK: News

    private func take(_ heard: EngineView.Heard) {
        withCopies { copies in
            for key in heard.echoed { copies.doubt(digest(of: key)) }
            for key in heard.changed { copies.change(digest(of: key)) }
        }
        let changed = heard.changed
        if changed.isEmpty { return }
        let isBegun = changeCopies { [weak self] in
            for key in changed { self?.removeCopy(key) }
            self?.didRemove(changed)
        }
        if !isBegun { didRemove(changed) }
    }

    /// Copies that are there still are compared before they are used.
    private func didRemove(_ keys: [String]) {
        withCopies { copies in for key in keys { copies.didRemove(digest(of: key)) } }
    }

    /// The copy is compared before it is used again.
    package func noteChange(ofKey key: String) {
        let digest = digest(of: key)
        withCopies { $0.doubt(digest) }
    }

    package func changesByOthers() throws(StoreError) -> ChangesByOthers { try shared.changesByOthers() }
    package var changeMark: UInt64? { shared.changeMark }

    // MARK: Copies

    func withCopies<Result>(_ body: (inout sending NearCopies) -> sending Result) -> sending Result {
        copies.withLock { copies in
            copies.follow(epoch: shared.view.epoch)
            return body(&copies)
        }
    }

    /// Has `body` change copies soon, after the changes before it. No caller waits for that: other processes that
    /// use the directory may hold it up for seconds.
    ///
    /// - Parameter byteCount: of the archives that it saves.
    /// - Returns: `false` if too much waits: then nothing is done, and a copy that is out of date stays until it is compared.
    @discardableResult
    func changeCopies(_ byteCount: Int = 0, _ body: @escaping @Sendable () -> Void) -> Bool {
        let cost = byteCount + Self.bytesOfChange
        if waitingByteCount.add(cost, ordering: .relaxed).newValue > Self.mostWaitingBytes {
            waitingByteCount.subtract(cost, ordering: .relaxed)
            return false
        }
        StoreUsage.start(on: changes) { [weak self] in
            body()
            self?.waitingByteCount.subtract(cost, ordering: .relaxed)
        }
        return true
    }

    /// Waits for the changes of copies that have begun.
    func finishChanges() { if StoreUsage.hasQueues { changes.sync {} } }

    /// Uses the disk. Its failures reach no caller; they are counted.
    @discardableResult
    func usingDisk<Result>(_ body: () throws(StoreError) -> Result) -> Result? {
        do throws(StoreError) {
            return try body()
        } catch {
            // A damaged copy was taken away.
            shared.engine.counters.count { $0.nearFailures += 1 }
            return nil
        }
    }

    /// Has `body` use the disk, and suspends the task.
    func onQueue<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withUnsafeContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    func removeCopy(_ key: String) { usingDisk { () throws(StoreError) in _ = try near.remove(forKey: key) } }

    /// The copy of a key, in the engine's time; `nil` if there is none, or nothing may be read for the key.
    func copy(_ key: StoreKey, _ digest: KeyDigest) -> StoredArchive? {
        if shared.view.isOwed(key) || copies.withLock({ $0.isPending(digest) }) { return nil }
        return usingDisk { () throws(StoreError) in try near.fetch(forKey: key.string) } ?? nil
    }

    /// Whether the server has told of all changes until now, and tells of those to come.
    var isHearing: Bool { hears && shared.view.nearRevision != nil }

    /// Whether a copy may be used unasked.
    func isVerified(_ copy: StoredArchive, _ digest: KeyDigest) -> Bool {
        isHearing
            && withCopies { $0.isVerified(digest, version: copy.information.identity.version) }
    }

    /// Keeps an entry of the server as a copy, unless a change of its key was heard of.
    ///
    /// - Parameters:
    ///   - attributes: in the engine's time.
    ///   - version: the server's.
    /// - Returns: the version of the copy; `nil` if there is none.
    func keep(
        _ archive: [UInt8],
        _ attributes: EntryAttributes,
        of key: StoreKey,
        version: UInt64,
        digest: KeyDigest,
        since start: NearCopies.Start
    ) -> UInt64? {
        guard withCopies({ $0.isCurrent(digest, start) }) else { return nil }
        let saved = usingDisk { () throws(StoreError) in
            try near.save(archive, forKey: key.string, attributes: attributes, if: nil)
        }
        return saved??.identity.version == version ? version : nil
    }

    /// A copy, or an entry of the server, in this machine's time.
    func here(_ stored: StoredArchive, isCopy: Bool = false) -> StoredArchive {
        let information = stored.information
        return StoredArchive(
            archive: stored.archive,
            information: EntryInformation(
                key: information.key,
                attributes: shared.offset.clock.here(information.attributes),
                archiveByteCount: information.archiveByteCount,
                storedByteCount: information.storedByteCount,
                identity: information.identity
            ),
            isCopy: isCopy
        )
    }

    // MARK: The server's alone

    package func compare(_ entries: [KnownEntry], isUrgent: Bool) async -> [Result<Bool, StoreError>] {
        await shared.compare(entries, isUrgent: isUrgent)
    }

    package func compare(_ entry: KnownEntry) throws(StoreError) -> Bool { try shared.compare(entry) }

    package func serveUnverified() -> Bool { shared.serveUnverified() }
    package func keepingTime(ofKey key: String) -> Duration? { shared.keepingTime(ofKey: key) }
    package func isOwed(_ key: String) -> Bool { shared.isOwed(key) }
    package var joinsLoads: Bool { shared.joinsLoads }
    package var leaseDuration: Duration { shared.leaseDuration }

    package func waitForLease(ofKey key: String, atMost time: Duration) async {
        await shared.waitForLease(ofKey: key, atMost: time)
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try shared.information(forKey: key)
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        try shared.peek(forKey: key, pieces: body)
    }

    package func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        try shared.forEachEntry(body)
    }
}
