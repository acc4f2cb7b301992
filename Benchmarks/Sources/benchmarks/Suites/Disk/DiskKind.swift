import BenchmarkKit
import Foundation
import TypedCache

/// A kind of store, from which any number can be opened.
struct DiskKind {
    let name: String
    var isOurs = false
    /// Whether it is another one but for that its changes wait until the disk has them, now and then at least.
    var waitsForDisk = false
    /// Whether it has a file for each entry and nothing else.
    var isFiles = false
    /// Opens the one in a folder, or makes it.
    let open: (URL) throws -> any DiskContestant

    /// Those that encode, compress, and decode.
    static var wholeJobs: [DiskKind] {
        [
            DiskKind(name: "Cache", isOurs: true) { try CacheContestant($0) },
            DiskKind(name: "by hand, whole job") { WholeJobContestant(HandFileStore($0), reusesStreams: false) },
            DiskKind(name: "by hand, whole job, zlib streams reused") {
                WholeJobContestant(HandFileStore($0), reusesStreams: true)
            },
            DiskKind(name: "JSONEncoder, a file each") { JSONContestant($0) },
        ]
    }

    /// The cache in other settings, which matter to saves only.
    static var otherSettings: [DiskKind] {
        [
            // In the steady state of a full one: each new entry has another one given up.
            DiskKind(name: "Cache, 500 entries at most") {
                try CacheContestant($0, disk: DiskSettings(count: 500))
            },
            DiskKind(name: "Cache, writing behind") {
                try CacheContestant($0, disk: DiskSettings(writing: .behind(limit: .mebibytes(8))))
            },
        ]
    }

    /// The cache where it waits for the disk.
    static var durable: DiskKind {
        DiskKind(name: "Cache, durability power", isOurs: true, waitsForDisk: true) {
            try CacheContestant($0, disk: DiskSettings(durability: .power))
        }
    }

    /// Those that are given bytes that were compressed before, and give them back compressed.
    static var bytesOnly: [DiskKind] {
        var kinds = [
            DiskKind(name: "bytes only: files by hand", isFiles: true) { BytesContestant(HandFileStore($0)) }
        ]
        #if SQLITE
            kinds += [
                DiskKind(name: "bytes only: SQLite, off") {
                    BytesContestant(try SQLiteStore($0, synchronous: .off))
                },
                DiskKind(name: "bytes only: SQLite, normal", waitsForDisk: true) {
                    BytesContestant(try SQLiteStore($0, synchronous: .normal))
                },
            ]
        #endif
        #if LMDB
            kinds += [
                DiskKind(name: "bytes only: LMDB, nosync") {
                    BytesContestant(try LMDBStore($0, isSynchronous: false))
                },
                DiskKind(name: "bytes only: LMDB, sync", waitsForDisk: true) {
                    BytesContestant(try LMDBStore($0, isSynchronous: true))
                },
            ]
        #endif
        return kinds
    }

    /// Gives a row to those that this was built without.
    static func recordMissing(work: String, parameters: [String: String], in context: Context) {
        #if !SQLITE
            context.unavailable(
                work: work,
                parameters: parameters,
                subject: "bytes only: SQLite",
                reason: "built without sqlite3.h; install libsqlite3-dev"
            )
        #endif
        #if !LMDB
            context.unavailable(
                work: work,
                parameters: parameters,
                subject: "bytes only: LMDB",
                reason: "built without lmdb.h; install liblmdb-dev"
            )
        #endif
    }
}
