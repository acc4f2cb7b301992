#if SQLITE
    import CSQLite
    import Foundation

    /// A database in a write-ahead log that no commit waits for, whose statements are prepared once.
    final class SQLiteDatabase {
        enum Value {
            case null
            case integer(Int)
            case real(Double)
            case text(String)
            case blob(Data)
        }

        private let database: OpaquePointer
        private var statements: [String: OpaquePointer] = [:]

        /// Opens the database in a file, or makes it.
        init(_ file: URL) throws {
            var handle: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            guard sqlite3_open_v2(file.path, &handle, flags, nil) == SQLITE_OK, let handle else {
                throw BenchmarkError("SQLite cannot open")
            }
            database = handle
            try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
        }

        deinit {
            for statement in statements.values { sqlite3_finalize(statement) }
            sqlite3_close(database)
        }

        func execute(_ text: String) throws {
            guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure }
        }

        /// Runs a statement, and gives each row to `each`.
        func run(_ text: String, _ values: [Value], each: (OpaquePointer) throws -> Void = { _ in }) throws {
            let statement = try prepared(text)
            defer { sqlite3_reset(statement) }
            for (index, value) in zip(Int32(1)..., values) { Self.bind(value, to: statement, index) }
            while true {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: try each(statement)
                case SQLITE_DONE: return
                default: throw failure
                }
            }
        }

        private static func bind(_ value: Value, to statement: OpaquePointer, _ index: Int32) {
            // SQLite copies the bytes.
            let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, Int64(number))
            case .real(let number): sqlite3_bind_double(statement, index, number)
            case .text(let text): sqlite3_bind_text(statement, index, text, -1, copies)
            case .blob(let data):
                data.withUnsafeBytes { bytes in
                    _ = sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), copies)
                }
            }
        }

        private func prepared(_ text: String) throws -> OpaquePointer {
            if let statement = statements[text] { return statement }
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK, let statement else {
                throw failure
            }
            statements[text] = statement
            return statement
        }

        private var failure: BenchmarkError {
            BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }

        // MARK: Columns of a row

        /// The text of a column; empty if it is null.
        static func text(_ row: OpaquePointer, _ column: Int32) -> String {
            sqlite3_column_text(row, column).map { String(cString: $0) } ?? ""
        }

        /// The bytes of a column; none if it is null.
        static func blob(_ row: OpaquePointer, _ column: Int32) -> Data {
            sqlite3_column_blob(row, column).map { Data(bytes: $0, count: Int(sqlite3_column_bytes(row, column))) }
                ?? Data()
        }
    }
#endif
