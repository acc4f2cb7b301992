import ArchiveStore

/// The copies of entries on a near disk that may be used unasked: they were compared with the engine's, or came
/// from it, and no change was heard of since. A value without I/O, clock or locks.
///
/// The disk has an entry for a key or none; whether it may be used is known here alone. After a start nothing is
/// verified, and other processes of the machine may write to the disk: so a copy is known by its version.
struct NearCopies: Sendable {
    /// The state of a key when an operation began.
    struct Start: Sendable {
        fileprivate let epoch: UInt64
        fileprivate let changes: Int
        fileprivate let isHeard: Bool
    }

    private struct Traffic {
        var operations = 0
        var writes = 0
        /// Changes since the first of the operations began, by messages and by this process.
        var changes = 0
        /// The engine's entry, as the operations found it.
        var found = AgreedVersion()
    }

    /// Above so many verified copies, none is.
    static let mostVerified = 262_144

    private var verified: [KeyDigest: UInt64] = [:]
    private var traffic: [KeyDigest: Traffic] = [:]
    /// Keys with changes that were heard of, and copies that are yet to be removed: how many removals are under way.
    private var pending: [KeyDigest: Int] = [:]
    /// The epoch of the view of the engine: in another one, nothing is verified any longer.
    private var epoch: UInt64 = 0

    func isVerified(_ key: KeyDigest, version: UInt64) -> Bool { verified[key] == version && !isPending(key) }

    /// Whether the disk may have a copy that is known to be out of date.
    func isPending(_ key: KeyDigest) -> Bool { pending[key] != nil }

    // MARK: News

    /// The entry was changed elsewhere: the copy is to be removed, which ``didRemove(_:)`` ends.
    mutating func change(_ key: KeyDigest) {
        doubt(key)
        pending[key, default: 0] += 1
    }

    mutating func didRemove(_ key: KeyDigest) {
        guard let count = pending[key] else { return }
        pending[key] = count > 1 ? count - 1 : nil
    }

    /// The entry may have been changed.
    mutating func doubt(_ key: KeyDigest) {
        verified[key] = nil
        traffic[key]?.changes += 1
        traffic[key]?.found = AgreedVersion()
    }

    /// Follows the epoch of the view of the engine: in a new one any entry may have been changed. To be called before
    /// anything else.
    mutating func follow(epoch: UInt64) {
        if epoch == self.epoch { return }
        self.epoch = epoch
        verified = [:]
    }

    // MARK: Operations

    /// - Parameter isHeard: whether the engine tells of changes from now on; otherwise the copy cannot be verified.
    mutating func beginRead(_ key: KeyDigest, isHeard: Bool) -> Start {
        traffic[key, default: Traffic()].operations += 1
        return start(key, isHeard)
    }

    /// Begins a change of the engine's entry by this process, of which no message comes.
    mutating func beginWrite(_ key: KeyDigest, isHeard: Bool) -> Start {
        traffic[key, default: Traffic()].operations += 1
        traffic[key]?.writes += 1
        doubt(key)
        return start(key, isHeard)
    }

    private func start(_ key: KeyDigest, _ isHeard: Bool) -> Start {
        Start(epoch: epoch, changes: traffic[key]?.changes ?? 0, isHeard: isHeard)
    }

    /// Whether no change was heard of since an operation began.
    func isCurrent(_ key: KeyDigest, _ start: Start) -> Bool {
        start.epoch == epoch && start.changes == traffic[key]?.changes && !isPending(key)
    }

    /// A caller is about to be given the entry that a reading found, or none. A copy of another version is not used any
    /// more, nor one that is verified by operations which are under way and may have found an older entry.
    ///
    /// - Parameter version: of the engine's entry; 0 for none.
    mutating func find(_ key: KeyDigest, _ version: UInt64) {
        if traffic[key]?.found.agree(on: version) == false { return doubt(key) }
        if verified[key] != version { verified[key] = nil }
    }

    /// Ends a reading.
    ///
    /// - Parameter version: of the copy on the disk that is the engine's, as far as this reading knows; `nil` if there
    ///   is none.
    mutating func endRead(_ key: KeyDigest, _ start: Start, verified version: UInt64?) {
        if let version { verify(key, version, since: start) }
        end(key)
    }

    /// The copy on the disk is the engine's entry, as far as a reading knows that goes on.
    mutating func verify(_ key: KeyDigest, _ version: UInt64, since start: Start) {
        if start.isHeard, isCurrent(key, start), traffic[key]?.writes == 0 { verify(key, version) }
    }

    mutating func endWrite(_ key: KeyDigest, _ start: Start, verified version: UInt64?) {
        if let version { find(key, version) }
        let isAlone = start.isHeard && isCurrent(key, start) && traffic[key]?.writes == 1
        // Readings that began before may have seen the former entry.
        doubt(key)
        traffic[key]?.writes -= 1
        if let version, isAlone { verify(key, version) }
        end(key)
    }

    private mutating func verify(_ key: KeyDigest, _ version: UInt64) {
        if verified.count >= Self.mostVerified { verified = [:] }
        verified[key] = version
    }

    private mutating func end(_ key: KeyDigest) {
        traffic[key]?.operations -= 1
        if traffic[key]?.operations == 0 { traffic[key] = nil }
    }
}
