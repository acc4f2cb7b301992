#if SQLITE
    import CSQLite
    import Foundation

    /// Offers and lists of them in SQLite.
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
        private let database: SQLiteDatabase
        private let encoder = JSONEncoder()
        private let decoder = JSONDecoder()

        init(_ folder: URL, _ layout: Layout) throws {
            self.layout = layout
            database = try SQLiteDatabase(folder.appending(path: "offers.sqlite"))
            let columns =
                switch layout {
                case .json: "json BLOB"
                case .columns:
                    """
                    title TEXT, createdAt REAL, changedAt REAL, page TEXT, code TEXT, price TEXT, note TEXT, condition TEXT,
                        size BLOB, labels BLOB, seller INTEGER
                    """
                }
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS offers (id INTEGER PRIMARY KEY, \(columns));
                CREATE TABLE IF NOT EXISTS sellers (id INTEGER PRIMARY KEY, json BLOB);
                CREATE TABLE IF NOT EXISTS lists (name TEXT, place INTEGER, id INTEGER, PRIMARY KEY (name, place))
                    WITHOUT ROWID;
                """
            )
        }

        /// Saves offers, and lists of them, in one transaction.
        func save(_ offers: [Offer], lists: [String: Range<Int>]) throws {
            try database.execute("BEGIN")
            for offer in offers { try save(offer) }
            for (name, ids) in lists {
                try database.run("DELETE FROM lists WHERE name = ?", [.text(name)])
                for (place, id) in ids.enumerated() {
                    try database.run(
                        "INSERT INTO lists VALUES (?, ?, ?)",
                        [.text(name), .integer(place), .integer(id)]
                    )
                }
            }
            try database.execute("COMMIT")
        }

        func save(_ sellers: [Seller]) throws {
            try database.execute("BEGIN")
            for seller in sellers {
                let json = try encoder.encode(seller)
                try database.run(
                    "INSERT OR REPLACE INTO sellers VALUES (?, ?)",
                    [.integer(seller.id), .blob(json)]
                )
            }
            try database.execute("COMMIT")
        }

        private func save(_ offer: Offer) throws {
            guard layout == .columns else {
                let json = try encoder.encode(offer)
                return try database.run(
                    "INSERT OR REPLACE INTO offers VALUES (?, ?)",
                    [.integer(offer.id), .blob(json)]
                )
            }
            try database.run(
                "INSERT OR REPLACE INTO offers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    .integer(offer.id), .text(offer.title), .real(offer.createdAt.timeIntervalSinceReferenceDate),
                    .real(offer.changedAt.timeIntervalSinceReferenceDate), .text(offer.page.absoluteString),
                    .text(offer.code.uuidString), .text("\(offer.price)"),
                    offer.note.map(SQLiteDatabase.Value.text) ?? .null,
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
            try database.run(query, [.text(name)]) { row in
                switch (layout, reading) {
                case (.json, _):
                    offers.append(try self.decoder.decode(Offer.self, from: SQLiteDatabase.blob(row, 0)))
                case (.columns, .decoder):
                    offers.append(try Offer(from: RowDecoder(row: row, columns: Self.columns)))
                case (.columns, .hand): offers.append(try self.offer(row))
                }
            }
            return offers
        }

        private func offer(_ row: OpaquePointer) throws -> Offer {
            guard let page = URL(string: SQLiteDatabase.text(row, 4)),
                let code = UUID(uuidString: SQLiteDatabase.text(row, 5)),
                let price = Decimal(string: SQLiteDatabase.text(row, 6)),
                let condition = Offer.Condition(rawValue: SQLiteDatabase.text(row, 8))
            else { throw BenchmarkError("a row has no offer") }
            return Offer(
                id: Int(sqlite3_column_int64(row, 0)),
                title: SQLiteDatabase.text(row, 1),
                createdAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 2)),
                changedAt: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 3)),
                page: page,
                code: code,
                price: price,
                note: sqlite3_column_type(row, 7) == SQLITE_NULL ? nil : SQLiteDatabase.text(row, 7),
                condition: condition,
                size: try decoder.decode(Offer.Size.self, from: SQLiteDatabase.blob(row, 9)),
                labels: try decoder.decode([String].self, from: SQLiteDatabase.blob(row, 10)),
                seller: .init(Int(sqlite3_column_int64(row, 11)))
            )
        }

        /// The sellers of some offers, each once.
        func sellers(of offers: [Offer]) throws -> [Seller] {
            try Set(offers.map(\.seller.id)).compactMap { id in
                var seller: Seller?
                try database.run("SELECT json FROM sellers WHERE id = ?", [.integer(id)]) { row in
                    seller = try self.decoder.decode(Seller.self, from: SQLiteDatabase.blob(row, 0))
                }
                return seller
            }
        }
    }
#endif
