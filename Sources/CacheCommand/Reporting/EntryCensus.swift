import ArchiveStore
import Foundation
import TypedCache

/// A number of entries, and the bytes that they take on disk.
struct EntryTally: Sendable, Equatable {
    var count = 0
    var byteCount = 0

    mutating func add(_ byteCount: Int) {
        count += 1
        self.byteCount += byteCount
    }
}

/// The entries whose size, age or deadline is in one range.
struct TallyClass {
    let name: String
    /// The end of the range, which begins after that of the class before.
    var limit = Double.infinity
    var tally = EntryTally()
}

extension [TallyClass] {
    /// Adds an entry to the first class whose range `value` is in.
    fileprivate mutating func add(_ byteCount: Int, at value: Double) {
        self[firstIndex { value <= $0.limit } ?? count - 1].tally.add(byteCount)
    }
}

/// Tallies by name, for a bounded number of names; all further names are tallied together.
struct EntryGroups {
    /// How many a report shows.
    static let mostShown = 20
    private static let mostNames = 2_000
    private static let longestName = 200

    private var tallies: [String: EntryTally] = [:]
    private var others = EntryTally()

    /// The number of names.
    var count: Int { tallies.count }

    mutating func add(_ name: some StringProtocol, _ byteCount: Int) {
        let name =
            name.utf8.count <= Self.longestName ? String(name) : String(name.prefix(Self.longestName / 4)) + "…"
        if tallies.count >= Self.mostNames, tallies[name] == nil { return others.add(byteCount) }
        tallies[name, default: EntryTally()].add(byteCount)
    }

    /// The ones with most bytes, and all others together.
    func largest(_ limit: Int) -> [(name: String, tally: EntryTally)] {
        let sorted = tallies.sorted { ($1.value.byteCount, $0.key) < ($0.value.byteCount, $1.key) }
        var rest = others
        for (_, tally) in sorted.dropFirst(limit) {
            rest.count += tally.count
            rest.byteCount += tally.byteCount
        }
        let shown = sorted.prefix(limit).map { (name: $0.key, tally: $0.value) }
        return rest.count == 0 ? shown : shown + [(name: "(all others)", tally: rest)]
    }
}

/// The sums over all entries of a cache that a report shows. Its memory does not grow with their number.
struct EntryCensus {
    /// The compression of some entries.
    struct Sample {
        static let mostEntries = 200
        /// Larger archives are left out.
        static let largestArchive = 1 << 20

        var count = 0
        var archiveByteCount = 0
        /// As they are stored.
        var byteCount = 0
        /// As they would be stored if each were deflated by itself, without a dictionary.
        var aloneByteCount = 0
    }

    private static let mostLargest = 10
    private static let day: TimeInterval = 86_400
    private static let longTime = 30 * day
    private static let times: KeyValuePairs = [
        "1 hour": day / 24, "1 day": day, "7 days": 7 * day, "30 days": longTime, "90 days": 90 * day,
        "1 year": 365 * day,
    ]

    let date: Date
    private(set) var count = 0
    private(set) var damagedCount = 0
    private(set) var byteCount = 0
    private(set) var archiveByteCount = 0
    private(set) var prefixes = EntryGroups()
    private(set) var tags = EntryGroups()
    private(set) var sizes = [
        TallyClass(name: "up to 256 B", limit: 256), TallyClass(name: "to 1 KiB", limit: 1_024),
        TallyClass(name: "to 4 KiB", limit: 4_096), TallyClass(name: "to 16 KiB", limit: 16_384),
        TallyClass(name: "to 64 KiB", limit: 65_536), TallyClass(name: "to 256 KiB", limit: 262_144),
        TallyClass(name: "to 1 MiB", limit: 1_048_576), TallyClass(name: "above 1 MiB"),
    ]
    private(set) var ages = times.map { TallyClass(name: $0, limit: $1) } + [TallyClass(name: "older")]
    private var datedDeadlines =
        [TallyClass(name: "expired", limit: 0)] + times.map { TallyClass(name: "in \($0)", limit: $1) }
        + [TallyClass(name: "later")]
    private(set) var neverExpiring = EntryTally()
    /// Entries with an idle time, which tells about when they were last read, that were surely not read for 30 days.
    private(set) var unread = EntryTally()
    private(set) var sample = Sample()
    /// The largest first.
    private(set) var largest: [(key: String, byteCount: Int)] = []

    init(at date: Date) { self.date = date }

    var deadlines: [TallyClass] { datedDeadlines + [TallyClass(name: "never", tally: neverExpiring)] }
    var expired: EntryTally { datedDeadlines[0].tally }
    /// The bytes of entries that were saved more than 30 days ago.
    var oldByteCount: Int { ages.reduce(0) { $1.limit > Self.longTime ? $0 + $1.tally.byteCount : $0 } }

    /// Counts an entry, or its damage.
    ///
    /// - Throws: the error of an entry that cannot be read for another reason.
    mutating func count(_ listed: Result<EntryInformation, CacheError>, in cache: any CacheAccess)
        throws(CacheError)
    {
        switch listed {
        case .success(let entry):
            count(entry)
            if sample.count < Sample.mostEntries, count.isMultiple(of: 1 + count / 64) {
                try look(into: entry, cache)
            }
        case .failure(let error) where error.code == .corrupted: damagedCount += 1
        case .failure(let error): throw error
        }
    }

    private mutating func count(_ entry: EntryInformation) {
        let size = entry.storedByteCount
        count += 1
        byteCount += size
        archiveByteCount += entry.archiveByteCount
        prefixes.add(Self.prefix(of: entry.key), size)
        for tag in entry.attributes.tags { tags.add(tag, size) }
        sizes.add(size, at: Double(size))
        ages.add(size, at: date.timeIntervalSince(entry.storedAt))
        if let deadline = entry.expiresAt {
            datedDeadlines.add(size, at: deadline.timeIntervalSince(date))
        } else {
            neverExpiring.add(size)
        }
        if let idle = entry.attributes.idleTime, let deadline = entry.expiresAt,
            // The deadline on disk may lag behind the last reading.
            date.timeIntervalSince(deadline) + idle * (1 - EntryAttributes.idleLag) > Self.longTime
        {
            unread.add(size)
        }
        if largest.count < Self.mostLargest || size > largest[largest.count - 1].byteCount {
            let place = largest.firstIndex { $0.byteCount < size } ?? largest.count
            largest.insert((entry.key, size), at: place)
            if largest.count > Self.mostLargest { largest.removeLast() }
        }
    }

    /// A key up to its first separator, that included; of a key without one, nothing.
    private static func prefix(of key: String) -> Substring {
        guard let end = key.utf8.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ":") }) else {
            return ""
        }
        return key[...end]
    }

    private mutating func look(into entry: EntryInformation, _ cache: any CacheAccess) throws(CacheError) {
        guard entry.archiveByteCount <= Sample.largestArchive else { return }
        var archive: [UInt8] = []
        let found: EntryInformation?
        do throws(CacheError) {
            found = try cache.peek(entry.key) { piece in
                archive += piece
                return archive.count <= Sample.largestArchive
            }
        } catch {
            // Its head is whole, and its archive is not.
            guard error.code == .corrupted else { throw error }
            return
        }
        guard let found, archive.count == found.archiveByteCount else { return }
        sample.count += 1
        sample.archiveByteCount += archive.count
        sample.byteCount += found.storedByteCount
        // Head and key take as much either way.
        let head = min(found.storedByteCount, 64 + found.key.utf8.count)
        sample.aloneByteCount += head + Zlib.deflate(archive).count
    }
}
