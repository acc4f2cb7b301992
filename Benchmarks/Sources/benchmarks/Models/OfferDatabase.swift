#if SQLITE
    import CSQLite
    import Foundation

    /// Offers and lists of them in SQLite, in a write-ahead log that no commit waits for, with statements prepared once.
    final class OfferDatabase {
        enum Layout: String, CaseIterable {
            case json = "a row of JSON"
            case columns = "a column per field"
        }

        /// How columns become an offer.
        enum Reading: String {
            case decoder = "columns by a row decoder"
            case hand = "columns by hand"
        }

        private static let fields = [
            "id", "title", "createdAt", "changedAt", "page", "code", "price", "note", "condition", "size", "labels",
            "seller",
        ]
        private static let columns = Dictionary(uniqueKeysWithValues: zip(fields, Int32(0)...))

        private let layout: Layout
        private let database: OpaquePointer
        private var statements: [String: OpaquePointer] = [:]
        private let encoder = JSONEncoder()
        private let decoder = JSONDecoder()

        init(_ folder: URL, _ layout: Layout) throws {
            self.layout = layout
            var handle: OpaquePointer?
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            guard sqlite3_open_v2(folder.appending(path: "offers.sqlite").path, &handle, flags, nil) == SQLITE_OK,
                let handle
            else { throw BenchmarkError("SQLite cannot open") }
            database = handle
            let columns =
                switch layout {
                case .json: "json BLOB"
                case .columns:
                    """
                    title TEXT, createdAt REAL, changedAt REAL, page TEXT, code TEXT, price TEXT, note TEXT, condition TEXT,
                        size BLOB, labels BLOB, seller INTEGER
                    """
                }
            try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
            try execute(
                """
                CREATE TABLE IF NOT EXISTS offers (id INTEGER PRIMARY KEY, \(columns));
                CREATE TABLE IF NOT EXISTS sellers (id INTEGER PRIMARY KEY, json BLOB);
                CREATE TABLE IF NOT EXISTS lists (name TEXT, place INTEGER, id INTEGER, PRIMARY KEY (name, place))
                    WITHOUT ROWID;
                """
            )
        }

        deinit {
            for statement in statements.values { sqlite3_finalize(statement) }
            sqlite3_close(database)
        }

        /// Saves offers, and lists of them, in one transaction.
        func save(_ offers: [Offer], lists: [String: Range<Int>]) throws {
            try execute("BEGIN")
            for offer in offers { try save(offer) }
            for (name, ids) in lists {
                try run("DELETE FROM lists WHERE name = ?", [.text(name)])
                for (place, id) in ids.enumerated() {
                    try run("INSERT INTO lists VALUES (?, ?, ?)", [.text(name), .integer(place), .integer(id)])
                }
            }
            try execute("COMMIT")
        }

        func save(_ sellers: [Seller]) throws {
            try execute("BEGIN")
            for seller in sellers {
                let json = try encoder.encode(seller)
                try run("INSERT OR REPLACE INTO sellers VALUES (?, ?)", [.integer(seller.id), .blob(json)])
            }
            try execute("COMMIT")
        }

        private func save(_ offer: Offer) throws {
            guard layout == .columns else {
                let json = try encoder.encode(offer)
                return try run("INSERT OR REPLACE INTO offers VALUES (?, ?)", [.integer(offer.id), .blob(json)])
            }
            try run(
                "INSERT OR REPLACE INTO offers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    .integer(offer.id), .text(offer.title), .real(offer.createdAt.timeIntervalSinceReferenceDate),
                    .real(offer.changedAt.timeIntervalSinceReferenceDate), .text(offer.page.absoluteString),
                    .text(offer.code.uuidString), .text("\(offer.price)"), offer.note.map(Value.text) ?? .null,
                    .text(offer.condition.rawValue), .blob(try encoder.encode(offer.size)),
                    .blob(try encoder.encode(offer.labels)), .integer(offer.seller.id),
                ]
            )
        }

        /// The offers of a list, in its order.
        ///
        /// - Parameter reading: for a column per field.
        func list(_ name: String, by reading: Reading = .decoder) throws -> [Offer] {
            var offers: [Offer] = []
            let names = layout == .json ? "json" : Self.fields.map { "offers.\($0)" }.joined(separator: ", ")
            let query = """
                SELECT \(names) FROM lists JOIN offers ON offers.id = lists.id WHERE lists.name = ? ORDER BY place
                """
            try run(query, [.text(name)]) { row in
                switch (layout, reading) {
                case (.json, _): offers.append(try self.decoder.decode(Offer.self, from: Self.blob(row, 0)))
                case (.columns, .decoder):
                    offers.append(try Offer(from: RowDecoder(row: row, columns: Self.columns)))
                case (.columns, .hand): offers.append(try self.offer(row))
                }
            }
            return offers
        }

        private func offer(_ row: OpaquePointer) throws -> Offer {
            guard let page = URL(string: Self.text(row, 4)), let code = UUID(uuidString: Self.text(row, 5)),
                let price = Decimal(string: Self.text(row, 6)),
                let condition = Offer.Condition(rawValue: Self.text(row, 8))
            else { throw BenchmarkError("a row has no offer") }
            return Offer(
                id: Int(sqlite3_column_int64(row, 0)),
                title: Self.text(row, 1),
                createdAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 2)),
                changedAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 3)),
                page: page,
                code: code,
                price: price,
                note: sqlite3_column_type(row, 7) == SQLITE_NULL ? nil : Self.text(row, 7),
                condition: condition,
                size: try decoder.decode(Offer.Size.self, from: Self.blob(row, 9)),
                labels: try decoder.decode([String].self, from: Self.blob(row, 10)),
                seller: .init(Int(sqlite3_column_int64(row, 11)))
            )
        }

        /// The sellers of some offers, each once.
        func sellers(of offers: [Offer]) throws -> [Seller] {
            try Set(offers.map(\.seller.id)).compactMap { id in
                var seller: Seller?
                try run("SELECT json FROM sellers WHERE id = ?", [.integer(id)]) { row in
                    seller = try self.decoder.decode(Seller.self, from: Self.blob(row, 0))
                }
                return seller
            }
        }

        // MARK: Values

        private enum Value {
            case null
            case integer(Int)
            case real(Double)
            case text(String)
            case blob(Data)
        }

        private static func text(_ row: OpaquePointer, _ column: Int32) -> String {
            sqlite3_column_text(row, column).map { String(cString: $0) } ?? ""
        }

        private static func blob(_ row: OpaquePointer, _ column: Int32) -> Data {
            sqlite3_column_blob(row, column).map { Data(bytes: $0, count: Int(sqlite3_column_bytes(row, column))) }
                ?? Data()
        }

        // MARK: Statements

        private func run(
            _ text: String,
            _ values: [Value],
            each: (OpaquePointer) throws -> Void = { _ in }
        ) throws {
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

        private func execute(_ text: String) throws {
            guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure }
        }

        private var failure: BenchmarkError {
            BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }
    }
#endif
