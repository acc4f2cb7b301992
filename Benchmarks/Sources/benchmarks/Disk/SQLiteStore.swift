#if SQLITE
    import CSQLite
    import Foundation

    /// One table of blobs, in a write-ahead log, with statements prepared once.
    final class SQLiteStore: ByteStore {
        /// The condition that a commit waits for: none, that the log is on disk before it is copied into the database,
        /// or that the committed changes are on disk.
        enum Synchronous: String {
            case off, normal, full
        }

        /// How long a connection waits for another one, in milliseconds.
        private static let patience: Int32 = 60_000

        private let database: OpaquePointer
        private let saving: OpaquePointer
        private let fetching: OpaquePointer
        private let removing: OpaquePointer

        /// - Parameters:
        ///   - folder: a folder that is there.
        ///   - hasRowid: whether keys have a tree of their own beside the entries', as they have by default: better for
        ///     larger entries.
        init(_ folder: URL, synchronous: Synchronous, hasRowid: Bool = true) throws {
            var handle: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            let status = sqlite3_open_v2(folder.appending(path: "entries.sqlite").path, &handle, flags, nil)
            guard status == SQLITE_OK, let handle else { throw BenchmarkError("SQLite cannot open: \(status)") }
            database = handle
            sqlite3_busy_timeout(handle, Self.patience)
            let setup = """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = \(synchronous.rawValue);
                CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, bytes BLOB NOT NULL)
                    \(hasRowid ? "" : "WITHOUT ROWID");
                """
            try Self.execute(setup, in: handle)
            saving = try Self.statement("INSERT OR REPLACE INTO entries (key, bytes) VALUES (?, ?)", in: handle)
            fetching = try Self.statement("SELECT bytes FROM entries WHERE key = ?", in: handle)
            removing = try Self.statement("DELETE FROM entries WHERE key = ?", in: handle)
        }

        deinit {
            for statement in [saving, fetching, removing] { sqlite3_finalize(statement) }
            sqlite3_close(database)
        }

        func save(_ bytes: [UInt8], forKey key: String) throws {
            try step(saving, key: key, bytes: bytes, expecting: SQLITE_DONE)
            sqlite3_reset(saving)
        }

        func fetch(forKey key: String) throws -> [UInt8]? {
            defer { sqlite3_reset(fetching) }
            guard try step(fetching, key: key, expecting: SQLITE_ROW, SQLITE_DONE) == SQLITE_ROW else { return nil }
            let blob = sqlite3_column_blob(fetching, 0)
            return Array(UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(fetching, 0))))
        }

        func remove(forKey key: String) throws {
            try step(removing, key: key, expecting: SQLITE_DONE)
            sqlite3_reset(removing)
        }

        func together(_ body: () throws -> Void) throws {
            try Self.execute("BEGIN", in: database)
            try body()
            try Self.execute("COMMIT", in: database)
        }

        /// The bindings point to memory that is valid only during the call, and no step comes after it.
        @discardableResult
        private func step(
            _ statement: OpaquePointer,
            key: String,
            bytes: [UInt8] = [],
            expecting expected: Int32...
        ) throws -> Int32 {
            var key = key
            let status = key.withUTF8 { key in
                bytes.withUnsafeBytes { bytes in
                    key.withMemoryRebound(to: CChar.self) { key in
                        _ = sqlite3_bind_text(statement, 1, key.baseAddress, Int32(key.count), nil)
                    }
                    if sqlite3_bind_parameter_count(statement) > 1 {
                        sqlite3_bind_blob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil)
                    }
                    return sqlite3_step(statement)
                }
            }
            guard expected.contains(status) else { throw Self.failure(database) }
            return status
        }

        private static func statement(_ text: String, in database: OpaquePointer) throws -> OpaquePointer {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK, let statement else {
                throw failure(database)
            }
            return statement
        }

        private static func execute(_ text: String, in database: OpaquePointer) throws {
            guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure(database) }
        }

        private static func failure(_ database: OpaquePointer) -> BenchmarkError {
            BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }
    }
#endif
