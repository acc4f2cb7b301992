import ArchiveStore
import Foundation

/// The counts and sizes of one open cache, as its process publishes them for other processes: the bytes of a
/// ``PublishedFile``.
///
///     0      4  magic          54 43 4c 53, "TCLS"
///     4      2  version        UInt16, 1
///     6      2  count          UInt16, of the numbers below
///     8      8  process        UInt64, the process identifier
///     16     8  opened at      Float64, seconds since 2001-01-01 00:00:00 UTC; finite
///     24     8  published at   likewise
///     32   8 n  numbers        UInt64 each, in the order of `numbers`; all ones: unknown, or no limit
///            2  name's length  UInt16, 0 to 255
///               name           UTF-8, of the program
///            4  checksum       UInt32, CRC-32 of every byte before it
///
/// Numbers are big-endian. Later versions may append numbers, which readers of this one leave alone.
package struct PublishedStatistics: Sendable, Hashable {
    package var processIdentifier: Int
    /// The program's name; any text.
    package var program: String
    package var openedAt: Date
    package var publishedAt: Date
    package var figures: CacheFigures

    package init(
        processIdentifier: Int,
        program: String,
        openedAt: Date,
        publishedAt: Date,
        figures: CacheFigures
    ) {
        self.processIdentifier = processIdentifier
        self.program = program
        self.openedAt = openedAt
        self.publishedAt = publishedAt
        self.figures = figures
    }

    private static let magic: UInt32 = 0x5443_4C53
    static let version = 1
    private static let headByteCount = 32
    private static let checksumByteCount = 4
    private static let longestName = 255
    private static let mostNumbers = 64
    /// The length of the longest file that makes sense.
    package static let largestByteCount =
        headByteCount + 8 * mostNumbers + 2 + longestName + checksumByteCount
    /// The largest number that a file may hold: sums over many files cannot overflow then, hostile files included.
    package static let largestNumber = 1 << 50
}

// Writing.
extension PublishedStatistics {
    package var bytes: [UInt8] {
        let numbers = Self.numbers.map { $0.value(figures) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.largestByteCount)
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: UInt16(Self.version))
        bytes.append(bigEndian: UInt16(numbers.count))
        bytes.append(bigEndian: UInt64(clamping: processIdentifier))
        bytes.append(bigEndian: openedAt.timeIntervalSinceReferenceDate.bitPattern)
        bytes.append(bigEndian: publishedAt.timeIntervalSinceReferenceDate.bitPattern)
        for number in numbers { bytes.append(bigEndian: number.map { UInt64(clamping: $0) } ?? .max) }
        // Cut between characters.
        var name = ""
        for character in program {
            guard name.utf8.count + character.utf8.count <= Self.longestName else { break }
            name.append(character)
        }
        bytes.append(bigEndian: UInt16(name.utf8.count))
        bytes += name.utf8
        bytes.append(bigEndian: bytes.withUnsafeBytes { Zlib.crc32($0) })
        return bytes
    }

    /// A number's place in the figures.
    private struct Number {
        let value: (CacheFigures) -> Int?
        let set: (inout CacheFigures, Int?) -> Void

        init(_ path: WritableKeyPath<CacheFigures, Int>) {
            value = { $0[keyPath: path] }
            set = { $0[keyPath: path] = $1 ?? 0 }
        }

        init(optional path: WritableKeyPath<CacheFigures, Int?>) {
            value = { $0[keyPath: path] }
            set = { $0[keyPath: path] = $1 }
        }

        init(microseconds path: WritableKeyPath<CacheFigures, Duration>) {
            value = { figures in
                let (seconds, attoseconds) = figures[keyPath: path].components
                return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
            }
            set = { $0[keyPath: path] = .microseconds(Int64($1 ?? 0)) }
        }
    }

    /// The numbers in the order of the format; new ones come last.
    private static var numbers: [Number] {
        [
            Number(\.statistics.memoryHits), Number(\.statistics.diskHits), Number(\.statistics.staleHits),
            Number(\.statistics.misses), Number(\.statistics.joins), Number(\.statistics.loads),
            Number(\.statistics.revalidations), Number(\.statistics.loadFailures), Number(\.statistics.saves),
            Number(\.statistics.expirations), Number(\.statistics.memoryEvictions),
            Number(\.statistics.diskEvictions), Number(\.statistics.removals), Number(\.statistics.replacements),
            Number(\.statistics.clearances), Number(\.statistics.corruptions), Number(\.statistics.failures),
            Number(microseconds: \.statistics.loadTime),
            Number(optional: \.memory.entryCount), Number(optional: \.memory.byteCount),
            Number(optional: \.memory.entryLimit), Number(optional: \.memory.byteLimit),
            Number(optional: \.disk.entryCount), Number(optional: \.disk.byteCount),
            Number(optional: \.disk.entryLimit), Number(optional: \.disk.byteLimit),
            Number(\.statistics.invalidations), Number(\.statistics.verifications),
        ]
    }
}

// Reading. The bytes may be any.
extension PublishedStatistics {
    /// Reads a published file.
    ///
    /// - Throws: ``CacheError`` with code `.unsupportedVersion` for a later version, `.corrupted` for bytes that no
    ///   version has written.
    package init(_ bytes: [UInt8]) throws(CacheError) {
        func damaged(_ reason: String) -> CacheError {
            CacheError(.corrupted, "published statistics cannot be read: \(reason)")
        }
        guard bytes.count >= Self.headByteCount + 2 + Self.checksumByteCount else { throw damaged("too few bytes") }
        guard bytes.count <= Self.largestByteCount else { throw damaged("too many bytes") }
        let checksum = bytes.withUnsafeBytes {
            Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(Self.checksumByteCount)))
        }
        var reader = ByteReader(bytes)
        guard reader.next(UInt32.self) == Self.magic, let version = reader.next(UInt16.self) else {
            throw damaged("the magic bytes are missing")
        }
        guard version <= Self.version else {
            throw CacheError(
                .unsupportedVersion,
                "published statistics have format version \(version), this is \(Self.version)"
            )
        }
        guard version == Self.version, let count = reader.next(UInt16.self), count <= Self.mostNumbers,
            let process = reader.next(UInt64.self), let opened = reader.next(UInt64.self),
            let published = reader.next(UInt64.self)
        else { throw damaged("the head is unknown") }
        let dates = (Double(bitPattern: opened), Double(bitPattern: published))
        guard dates.0.magnitude < Self.latest, dates.1.magnitude < Self.latest else {
            throw damaged("a date is impossible")
        }
        var known = Self.numbers[...]
        var figures = CacheFigures()
        for _ in 0..<count {
            guard let number = reader.next(UInt64.self) else { throw damaged("too few numbers") }
            let value = number == .max ? nil : min(Int(clamping: number), Self.largestNumber)
            known.popFirst()?.set(&figures, value)
        }
        guard known.isEmpty else { throw damaged("too few numbers") }
        guard let length = reader.next(UInt16.self), length <= Self.longestName,
            let name = reader.next(byteCount: Int(length)), reader.next(UInt32.self) == checksum, reader.isAtEnd
        else { throw damaged("the checksum does not match") }
        processIdentifier = min(Int(clamping: process), Int(Int32.max))
        program = String(decoding: name, as: UTF8.self)
        openedAt = Date(timeIntervalSinceReferenceDate: dates.0)
        publishedAt = Date(timeIntervalSinceReferenceDate: dates.1)
        self.figures = figures
    }

    /// Seconds since 2001, a few thousand years: dates beyond it have no use, and sums with it stay exact enough.
    private static var latest: Double { 1e11 }
}

/// A cache as a process has it open, once or several times.
package struct PublishedCache: Sendable {
    /// Whether the process lives and has the cache open, as far as the system tells.
    package let isLive: Bool
    /// How often the process has it open.
    package private(set) var openCount = 1
    /// The sums, where the process has it open several times.
    package private(set) var statistics: PublishedStatistics

    /// The longest time between two publications of a live cache that is not held up.
    package static let heartbeat = StatisticsPublisher.heartbeat

    /// The caches with the directory at `directory` that processes tell of, in the order of their opening, and the
    /// reasons why others cannot be read. Blocks on disk I/O; reads at most 256 files of 1 KiB.
    ///
    /// - Throws: `.io` if the directory cannot be read.
    package static func all(in directory: URL) throws(CacheError) -> (
        caches: [PublishedCache], faults: [CacheError]
    ) {
        let files: [PublishedFile.Found]
        do throws(StoreError) {
            files = try PublishedFile.all(
                inDirectory: directory.path(percentEncoded: false),
                byteLimit: PublishedStatistics.largestByteCount
            )
        } catch {
            throw CacheError(error)
        }
        var caches: [PublishedCache] = []
        var faults: [CacheError] = []
        for file in files {
            do throws(CacheError) {
                let statistics = try PublishedStatistics(file.bytes)
                caches.append(PublishedCache(isLive: file.isLive, statistics: statistics))
            } catch {
                faults.append(error)
            }
        }
        caches.sort { $0.order < $1.order }
        return (joined(caches), faults)
    }

    private var order: (Date, Int) { (statistics.openedAt, statistics.processIdentifier) }

    private struct Process: Hashable {
        let identifier: Int
        let program: String
        let isLive: Bool
    }

    /// One for each process.
    private static func joined(_ caches: [PublishedCache]) -> [PublishedCache] {
        var places: [Process: Int] = [:]
        var joined: [PublishedCache] = []
        for cache in caches {
            let process = Process(
                identifier: cache.statistics.processIdentifier,
                program: cache.statistics.program,
                isLive: cache.isLive
            )
            if let place = places[process] {
                joined[place].join(cache)
            } else {
                places[process] = joined.count
                joined.append(cache)
            }
        }
        return joined
    }

    private mutating func join(_ other: PublishedCache) {
        openCount += other.openCount
        statistics.figures.statistics.add(other.statistics.figures.statistics)
        statistics.figures.memory = statistics.figures.memory.joined(with: other.statistics.figures.memory)
        // The disk is the same one; the later look counts.
        guard other.statistics.publishedAt >= statistics.publishedAt else { return }
        statistics.publishedAt = other.statistics.publishedAt
        statistics.figures.disk = other.statistics.figures.disk
    }
}
