import BenchmarkKit
import Foundation
import StoreMeasuring
import TypedCache

/// A kind of store, from which any number can be opened.
struct DiskKind {
    let name: String
    var isOurs = false
    /// Whether it is given bytes that were compressed before, and returns them compressed.
    var isBytesOnly = false
    /// Whether some changes, or all, wait until the disk has them.
    var waitsForDisk = false
    /// Whether it has a file for each entry.
    var isFiles = false
    /// Opens the store in a folder, or makes it.
    let open: (URL) throws -> any DiskContestant

    /// Stores that encode, compress and decode.
    static var wholeJobs: [DiskKind] {
        [
            cache("Cache, packed", DiskSettings(layout: .packed)),
            cache("Cache, files", DiskSettings(layout: .files)),
            DiskKind(name: "by hand, whole job", isFiles: true) {
                WholeJobContestant(HandFileStore($0), reusesStreams: false)
            },
            DiskKind(name: "by hand, whole job, zlib streams reused", isFiles: true) {
                WholeJobContestant(HandFileStore($0), reusesStreams: true)
            },
            DiskKind(name: "JSONEncoder, a file each", isFiles: true) { JSONContestant($0) },
        ]
    }

    /// The cache in other settings, which matter to saves only.
    static var otherSettings: [DiskKind] {
        [
            // The steady state of a full cache: each new entry has another one evicted.
            cache("Cache, packed, 500 entries at most", DiskSettings(layout: .packed, countLimit: 500)),
            cache(
                "Cache, packed, writing behind",
                DiskSettings(layout: .packed, writing: .behind(limit: .mebibytes(8)))
            ),
        ]
    }

    /// The cache where it waits for the disk.
    static var durableCaches: [DiskKind] {
        [
            cache("Cache, packed, durability power", DiskSettings(layout: .packed, durability: .power)),
            cache("Cache, files, durability power", DiskSettings(layout: .files, durability: .power)),
        ]
    }

    /// Stores that are given bytes and wait for nothing.
    static var bytesOnly: [DiskKind] {
        [
            store("packed store", .packed),
            store("file store", .files),
            DiskKind(name: "files by hand", isBytesOnly: true, isFiles: true) {
                BytesContestant(HandFileStore($0))
            },
        ] + engines
    }

    /// Databases that wait for nothing.
    static var engines: [DiskKind] {
        var kinds: [DiskKind] = []
        #if SQLITE
            kinds += [
                DiskKind(name: "SQLite, off", isBytesOnly: true) {
                    BytesContestant(try SQLiteStore($0, synchronous: .off))
                },
                DiskKind(name: "SQLite, off, without rowid", isBytesOnly: true) {
                    BytesContestant(try SQLiteStore($0, synchronous: .off, hasRowid: false))
                },
            ]
        #endif
        #if LMDB
            kinds.append(
                DiskKind(name: "LMDB, nosync", isBytesOnly: true) {
                    BytesContestant(try LMDBStore($0, isSynchronous: false))
                }
            )
        #endif
        return kinds
    }

    /// Stores that are given bytes and wait for the disk.
    static var durableBytes: [DiskKind] {
        durableStores + sqlite(.normal) + sqlite(.full) + lmdbSynchronous
    }

    /// Our own stores where they wait for the disk.
    static var durableStores: [DiskKind] {
        [
            store("packed store, power", .packed, waitsForDisk: true),
            store("file store, power", .files, waitsForDisk: true),
        ]
    }

    #if SQLITE
        /// SQLite where it waits for the disk.
        static func sqlite(_ synchronous: SQLiteStore.Synchronous) -> [DiskKind] {
            [
                DiskKind(name: "SQLite, \(synchronous.rawValue)", isBytesOnly: true, waitsForDisk: true) {
                    BytesContestant(try SQLiteStore($0, synchronous: synchronous))
                }
            ]
        }
    #else
        enum Synchronous { case normal, full }
        static func sqlite(_: Synchronous) -> [DiskKind] { [] }
    #endif

    /// LMDB where it waits for the disk.
    static var lmdbSynchronous: [DiskKind] {
        #if LMDB
            [
                DiskKind(name: "LMDB, sync", isBytesOnly: true, waitsForDisk: true) {
                    BytesContestant(try LMDBStore($0, isSynchronous: true))
                }
            ]
        #else
            []
        #endif
    }

    /// Our own stores, encrypted and not.
    static var encryptedBytes: [DiskKind] {
        [
            store("packed store", .packed),
            store("packed store, encrypted", .packed, isEncrypted: true),
            store("file store", .files),
            store("file store, encrypted", .files, isEncrypted: true),
        ]
    }

    /// Caches, encrypted and not.
    static var encryptedCaches: [DiskKind] {
        // Any key measures alike.
        let key = EncryptionKey(identifier: 1, bytes: 0..<UInt8(EncryptionKey.byteCount))
        return [
            cache("Cache, packed", DiskSettings(layout: .packed)),
            cache(
                "Cache, packed, encrypted",
                DiskSettings(layout: .packed, encryption: key.map { .key($0) } ?? .none)
            ),
        ]
    }

    private static func cache(_ name: String, _ disk: DiskSettings) -> DiskKind {
        DiskKind(
            name: name,
            isOurs: true,
            waitsForDisk: disk.durability == .power,
            isFiles: disk.layout == .files
        ) { try CacheContestant($0, disk: disk) }
    }

    private static func store(
        _ name: String,
        _ layout: MeasuredStore.Layout,
        waitsForDisk: Bool = false,
        isEncrypted: Bool = false
    ) -> DiskKind {
        DiskKind(
            name: name,
            isOurs: true,
            isBytesOnly: true,
            waitsForDisk: waitsForDisk,
            isFiles: layout == .files
        ) { try StreamContestant($0, layout: layout, waitsForDisk: waitsForDisk, isEncrypted: isEncrypted) }
    }

    /// Gives a row to databases that this was built without.
    static func recordMissing(work: String, parameters: [String: String], in context: Context) {
        #if !SQLITE
            context.unavailable(
                work: work,
                parameters: parameters,
                subject: "SQLite",
                reason: "built without sqlite3.h; install libsqlite3-dev"
            )
        #endif
        #if !LMDB
            context.unavailable(
                work: work,
                parameters: parameters,
                subject: "LMDB",
                reason: "built without lmdb.h; install liblmdb-dev"
            )
        #endif
    }
}
