import Foundation

/// A kind of store, from which any number can be opened.
struct DiskKind {
    let name: String
    var isOurs = false
    /// Whether it differs from another one in how it writes only, so that reading need not be measured twice.
    var readsAsAnother = false
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

    /// Those that are given bytes that were compressed before, and give them back compressed.
    static var bytesOnly: [DiskKind] {
        var kinds = [DiskKind(name: "bytes only: files by hand") { BytesContestant(HandFileStore($0)) }]
        #if SQLITE
            kinds += [
                DiskKind(name: "bytes only: SQLite, off") {
                    BytesContestant(try SQLiteStore($0, synchronous: .off))
                },
                DiskKind(name: "bytes only: SQLite, normal", readsAsAnother: true) {
                    BytesContestant(try SQLiteStore($0, synchronous: .normal))
                },
            ]
        #endif
        #if LMDB
            kinds += [
                DiskKind(name: "bytes only: LMDB, nosync") {
                    BytesContestant(try LMDBStore($0, isSynchronous: false))
                },
                DiskKind(name: "bytes only: LMDB, sync", readsAsAnother: true) {
                    BytesContestant(try LMDBStore($0, isSynchronous: true))
                },
            ]
        #endif
        return kinds
    }

    /// Those that the package was built without, and why.
    static var missing: [(name: String, reason: String)] {
        var missing: [(name: String, reason: String)] = []
        #if !SQLITE
            missing.append(("bytes only: SQLite", "built without sqlite3.h; install libsqlite3-dev"))
        #endif
        #if !LMDB
            missing.append(("bytes only: LMDB", "built without lmdb.h; install liblmdb-dev"))
        #endif
        return missing
    }
}
