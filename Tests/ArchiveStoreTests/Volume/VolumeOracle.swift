import TestSupport

/// Knows the begin and end of all saves and removals, and judges each reading by the promises of a store alone.
///
/// A reading may give a version that had begun before the reading ended, unless another one had certainly replaced it
/// before the reading began: one that began after the version had ended, and had returned.
///
/// After a power failure the certain versions are those that had returned under `.power`, and those that were on the
/// device when everything was. Any later one may be there.
struct VolumeOracle {
    enum Found: Equatable {
        /// A version, 0 for no entry.
        case version(Int)
        /// The store says that the entry is damaged.
        case damaged
    }

    private struct Version {
        let number: Int
        var begin: Int
        /// `nil` while its call is under way.
        var end: Int?
        let actor: Int
        let isDurable: Bool
        /// Whether its call has returned, and the version is certain.
        var isDone = false
        /// Whether it is certain to be on the device.
        var isOnDevice = false
        let isRemoval: Bool
    }

    struct Promises {
        /// Entries may be evicted at any time.
        var isLimited = false
        /// A save that waits for no device may lose its key's former value with its own in a power failure.
        var losesSavedOver = false
        /// Keys may be missing after a power failure for another reason.
        var losesAny = false
    }

    let promises: Promises
    private var versions: [String: [Version]] = [:]
    private var archives: [Int: [UInt8]] = [:]
    private var keys: [String] = []
    private(set) var lastNumber = 0
    /// When the folder was last emptied, and when every reader notices that.
    private var emptiedAt = 0
    private(set) var noticedAt = 0
    private(set) var violations: [String] = []
    private(set) var readingCount = 0
    private var hasFailedPower = false

    init(keys: [String], promises: Promises) {
        self.keys = keys
        self.promises = promises
        for key in keys {
            var nothing = Version(number: 0, begin: -1, end: -1, actor: -1, isDurable: true, isRemoval: true)
            nothing.isDone = true
            nothing.isOnDevice = true
            versions[key] = [nothing]
        }
    }

    mutating func report(_ law: String, _ evidence: String) {
        if violations.count < 8 { violations.append("\(law): \(evidence)") }
    }

    // MARK: Archives

    /// An archive of a new version, which no compression makes shorter.
    mutating func beginSave(_ key: String, _ byteCount: Int, by actor: Int, isDurable: Bool, at time: Int) -> (
        number: Int, archive: [UInt8]
    ) {
        lastNumber += 1
        var random = SeededGenerator(seed: lastNumber &* 7_919)
        let archive = Array("\(key) \(lastNumber) ".utf8) + random.bytes(byteCount)
        archives[lastNumber] = archive
        let version = Version(
            number: lastNumber,
            begin: time,
            actor: actor,
            isDurable: isDurable,
            isRemoval: false
        )
        versions[key]?.append(version)
        return (lastNumber, archive)
    }

    /// The version that an archive proves to be.
    mutating func found(_ archive: [UInt8], _ key: String) -> Found? {
        let words = archive.split(separator: UInt8(ascii: " "), maxSplits: 2).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count == 3, words[0] == key, let number = Int(words[1]), archives[number] == archive else {
            report("WRONG", "\(key) was answered with \(archive.count) bytes that begin with \(words.prefix(2))")
            return nil
        }
        return .version(number)
    }

    // MARK: Changes

    /// A removal of some keys begins.
    mutating func beginRemoval(_ keys: [String]?, by actor: Int, isDurable: Bool, at time: Int) -> Int {
        lastNumber += 1
        for key in keys ?? self.keys {
            versions[key]?.append(
                Version(number: lastNumber, begin: time, actor: actor, isDurable: isDurable, isRemoval: true)
            )
        }
        return lastNumber
    }

    mutating func end(_ number: Int, isDone: Bool, at time: Int) {
        change { version in
            guard version.number == number, version.end == nil else { return }
            version.end = time
            version.isDone = isDone
            version.isOnDevice = isDone && version.isDurable
        }
    }

    /// Another call of the same process for the key begins after a deferred save of it was accepted, which is not certain to
    /// be written.
    mutating func supersede(_ number: Int, at time: Int) {
        change { version in
            if version.number == number, version.end == nil { version.end = time }
        }
    }

    /// A process is killed: its calls have an effect before this, or none.
    mutating func kill(actor: Int, at time: Int) {
        change { version in
            if version.actor == actor, version.end == nil { version.end = time }
        }
    }

    /// The folder is emptied by hand, or one of its files is removed.
    ///
    /// - Parameters:
    ///   - isWhole: whether no former entry may be found a while later.
    ///   - hasHistory: whether the files that are left may have older versions of what was in that one.
    mutating func empty(isWhole: Bool, hasHistory: Bool, at time: Int) {
        if hasHistory {
            change { version in
                version.isDone = false
                version.isOnDevice = false
            }
        }
        lastNumber += 1
        emptiedAt = time
        noticedAt = time + Self.notice
        for key in keys {
            var version = Version(number: lastNumber, begin: time, actor: -1, isDurable: false, isRemoval: true)
            version.end = time + Self.notice
            version.isDone = isWhole
            versions[key]?.append(version)
        }
    }

    /// How long a reader may not notice that its directory is gone, in nanoseconds.
    private static let notice = 12_000_000

    /// Everything that has returned is on the device.
    mutating func synchronizeAll() {
        change { if $0.isDone { $0.isOnDevice = true } }
    }

    private mutating func change(_ body: (inout Version) -> Void) {
        for key in keys {
            for place in (versions[key] ?? []).indices { body(&versions[key]![place]) }
        }
    }

    // MARK: Power failures

    mutating func failPower(at time: Int) {
        hasFailedPower = true
        change { if $0.end == nil { $0.end = time } }
        for key in keys {
            let all = versions[key] ?? []
            let certain = all.filter(\.isOnDevice)
            var rest = all.filter { version in
                !certain.contains { $0.number != version.number && version.end ?? time < $0.begin }
            }
            let isSavedOver = rest.contains { !$0.isOnDevice }
            if promises.losesAny || promises.losesSavedOver && isSavedOver, !rest.contains(where: \.isRemoval) {
                rest.append(
                    Version(number: 0, begin: time, end: time, actor: -1, isDurable: false, isRemoval: true)
                )
            }
            // One of them is on the device, and which one is not known.
            versions[key] = rest.map { version in
                var version = version
                version.begin = time
                version.end = time
                version.isDone = rest.count == 1
                version.isOnDevice = rest.count == 1
                return version
            }
        }
    }

    // MARK: Readings

    mutating func judge(_ found: Found, _ key: String, from begin: Int, to end: Int, by reader: String) {
        readingCount += 1
        guard let all = versions[key] else {
            return report("WRONG", "there is an entry \(key), which was never saved")
        }
        let possible = all.filter { version in
            version.begin < end && !all.contains { supersedes($0, version, for: begin) }
        }
        let evidence = "\(reader) found \(found) of \(key), which may have \(possible.map(describe))"
        switch found {
        case .damaged where !hasFailedPower: report("DAMAGED", evidence)
        case .damaged, .version(0):
            if promises.isLimited { return }
            guard possible.contains(where: \.isRemoval) else {
                return report(possible.count == 1 ? "LOST" : "LOST OVER", evidence)
            }
            settle(key, among: possible.filter(\.isRemoval), all)
        case .version(let number):
            if let version = possible.first(where: { $0.number == number }) {
                return settle(key, among: [version], all)
            }
            report(all.contains { $0.number == number } ? "OLDER" : "BACK", evidence)
        }
    }

    /// Whether a reading that begins at a time cannot find a version, because of another one.
    private func supersedes(_ later: Version, _ version: Version, for begin: Int) -> Bool {
        guard later.isDone, later.number != version.number, let laterEnd = later.end, laterEnd < begin,
            let end = version.end, end < later.begin
        else { return false }
        // Until its process notices that the folder was emptied, a removal looks at the files from before.
        let isBlind = later.isRemoval && later.begin > emptiedAt && later.begin < noticedAt
        if isBlind, version.begin >= emptiedAt { return false }
        // Until a reader notices that the folder was emptied, it reads the files from before, which calls that end later
        // may not have changed.
        return begin >= noticedAt || version.begin >= emptiedAt || laterEnd < emptiedAt
    }

    private func describe(_ version: Version) -> String { version.isRemoval ? "no entry" : "\(version.number)" }

    /// Notes which version a power failure has left: all later readings, of any opening, must agree with it.
    private mutating func settle(_ key: String, among found: [Version], _ all: [Version]) {
        guard hasFailedPower, let one = found.first, let time = one.end, !one.isDone, one.begin == time else {
            return
        }
        versions[key] = all.compactMap { version in
            guard version.begin == time, version.end == time else { return version }
            guard version.number == one.number else { return nil }
            var version = version
            version.isDone = true
            version.isOnDevice = true
            return version
        }
    }
}
