#if LMDB
    import CLMDB
    import Foundation

    /// One unnamed database in a memory map, a transaction for each operation.
    ///
    /// LMDB allows one of them at a time for each folder.
    final class LMDBStore: ByteStore {
        /// Of address space and of the file, which is sparse.
        private static let mapByteCount = 16 << 30

        private let environment: OpaquePointer
        private let database: MDB_dbi
        private let reading: OpaquePointer
        /// The transaction for all changes within a call of ``together(_:)``.
        private var writing: OpaquePointer?

        /// - Parameters:
        ///   - folder: a folder that is there.
        ///   - isSynchronous: whether a commit waits until it is on disk.
        init(_ folder: URL, isSynchronous: Bool) throws {
            var handle: OpaquePointer?
            try Self.check(mdb_env_create(&handle))
            guard let handle else { throw BenchmarkError("LMDB made no environment") }
            environment = handle
            try Self.check(mdb_env_set_mapsize(handle, Self.mapByteCount))
            try Self.check(mdb_env_open(handle, folder.path, isSynchronous ? 0 : UInt32(MDB_NOSYNC), 0o600))

            let transaction = try Self.transaction(in: handle, flags: 0)
            var database: MDB_dbi = 0
            try Self.check(mdb_dbi_open(transaction, nil, 0, &database))
            try Self.check(mdb_txn_commit(transaction))
            self.database = database
            reading = try Self.transaction(in: handle, flags: UInt32(MDB_RDONLY))
            mdb_txn_reset(reading)
        }

        deinit {
            mdb_txn_abort(reading)
            mdb_env_close(environment)
        }

        func save(_ bytes: [UInt8], forKey key: String) throws {
            try change { transaction in
                try Self.withValue(key) { key in
                    try bytes.withUnsafeBytes { bytes in
                        var value = Self.value(bytes)
                        try Self.check(mdb_put(transaction, database, &key, &value, 0))
                    }
                }
            }
        }

        func fetch(forKey key: String) throws -> [UInt8]? {
            try Self.check(mdb_txn_renew(reading))
            defer { mdb_txn_reset(reading) }
            return try Self.withValue(key) { key in
                var value = MDB_val()
                let status = mdb_get(reading, database, &key, &value)
                if status == MDB_NOTFOUND { return nil }
                try Self.check(status)
                return Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            }
        }

        func remove(forKey key: String) throws {
            try change { transaction in
                try Self.withValue(key) { key in try Self.check(mdb_del(transaction, database, &key, nil)) }
            }
        }

        func together(_ body: () throws -> Void) throws {
            writing = try Self.transaction(in: environment, flags: 0)
            try body()
            try Self.check(mdb_txn_commit(writing))
            writing = nil
        }

        private func change(_ body: (OpaquePointer) throws -> Void) throws {
            if let writing { return try body(writing) }
            let transaction = try Self.transaction(in: environment, flags: 0)
            do {
                try body(transaction)
            } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            try Self.check(mdb_txn_commit(transaction))
        }

        private static func transaction(in environment: OpaquePointer, flags: UInt32) throws -> OpaquePointer {
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, flags, &transaction))
            guard let transaction else { throw BenchmarkError("LMDB made no transaction") }
            return transaction
        }

        private static func withValue<Result>(
            _ key: String,
            _ body: (inout MDB_val) throws -> Result
        ) throws -> Result {
            var key = key
            return try key.withUTF8 { bytes in
                var value = value(UnsafeRawBufferPointer(bytes))
                return try body(&value)
            }
        }

        /// LMDB's pointers are not const by their type, but it never writes through them.
        private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
            MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }

        private static func check(_ status: Int32) throws {
            guard status == 0 else { throw BenchmarkError("LMDB: \(String(cString: mdb_strerror(status)))") }
        }
    }
#endif
