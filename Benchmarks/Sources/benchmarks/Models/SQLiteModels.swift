#if SQLITE
    import BenchmarkKit
    import CSQLite
    import Foundation

    /// Products in a database of SQLite.
    final class SQLiteModels {
        enum Layout: String, CaseIterable {
            case json = "a row of JSON"
            case fields = "a row per field"
            case columns = "a column per field"
        }

        private static let columns = [
            "id", "name", "brand", "price", "stock", "isOnSale", "rating", "summary", "changedAt", "maker",
        ]

        /// Compares all layouts, each in a database of its own.
        ///
        /// - Parameter prepare: is called once for each database, before anything is measured.
        static func subjects<Result>(
            in context: Context,
            prepare: (SQLiteModels) throws -> Void = { _ in },
            operation: @escaping (SQLiteModels, _ index: Int) throws -> Result
        ) throws -> [Subject] {
            try Layout.allCases.map { layout in
                let database = try SQLiteModels(context.makeFolder("models-\(layout)"), layout)
                try prepare(database)
                return Subject("SQLite, \(layout.rawValue)") { try operation(database, $0) }
            }
        }

        /// Compares all layouts, each with a database that is reopened by each operation.
        static func openedSubjects<Result>(
            in context: Context,
            prepare: (SQLiteModels) throws -> Void,
            operation: @escaping (SQLiteModels) throws -> Result
        ) throws -> [Subject] {
            try Layout.allCases.map { layout in
                let folder = try context.makeFolder("opened-\(layout)")
                try prepare(SQLiteModels(folder, layout))
                return Subject("SQLite, opened, \(layout.rawValue)") { _ in
                    try operation(SQLiteModels(folder, layout))
                }
            }
        }

        private let layout: Layout
        private let database: SQLiteDatabase
        private let encoder = JSONEncoder()
        private let decoder = JSONDecoder()

        init(_ folder: URL, _ layout: Layout) throws {
            self.layout = layout
            database = try SQLiteDatabase(folder.appending(path: "models.sqlite"))
            let products =
                switch layout {
                case .json: "CREATE TABLE IF NOT EXISTS products (id INTEGER PRIMARY KEY, json BLOB NOT NULL)"
                case .fields:
                    """
                    CREATE TABLE IF NOT EXISTS products (id INTEGER, field TEXT, value, PRIMARY KEY (id, field))
                        WITHOUT ROWID
                    """
                case .columns:
                    """
                    CREATE TABLE IF NOT EXISTS products (id INTEGER PRIMARY KEY, name TEXT, brand TEXT, price REAL,
                        stock INTEGER, isOnSale INTEGER, rating REAL, summary TEXT, changedAt REAL, maker INTEGER)
                    """
                }
            try database.execute(products)
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS lists (name TEXT, place INTEGER, id INTEGER, PRIMARY KEY (name, place))
                    WITHOUT ROWID
                """
            )
        }

        /// Saves products, and a list of them, in one transaction.
        func save(_ products: [Product], list: String) throws {
            try database.execute("BEGIN")
            for product in products { try save(product) }
            try database.run("DELETE FROM lists WHERE name = ?", [.text(list)])
            for (place, product) in products.enumerated() {
                try database.run(
                    "INSERT INTO lists VALUES (?, ?, ?)",
                    [.text(list), .integer(place), .integer(product.id)]
                )
            }
            try database.execute("COMMIT")
        }

        private func save(_ product: Product) throws {
            let values = Self.values(of: product)
            switch layout {
            case .json:
                let json = try encoder.encode(product)
                try database.run(
                    "INSERT OR REPLACE INTO products VALUES (?, ?)",
                    [.integer(product.id), .blob(json)]
                )
            case .fields:
                for (column, value) in zip(Self.columns, values) {
                    try database.run(
                        "INSERT OR REPLACE INTO products VALUES (?, ?, ?)",
                        [.integer(product.id), .text(column), value]
                    )
                }
            case .columns:
                try database.run("INSERT OR REPLACE INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            }
        }

        /// The products of a list, in its order.
        func list(_ name: String) throws -> [Product] {
            switch layout {
            case .json:
                var products: [Product] = []
                let query = "SELECT json FROM lists JOIN products USING (id) WHERE name = ? ORDER BY place"
                try database.run(query, [.text(name)]) { row in
                    products.append(try self.decoder.decode(Product.self, from: SQLiteDatabase.blob(row, 0)))
                }
                return products
            case .fields:
                var ids: [Int] = []
                try database.run("SELECT id FROM lists WHERE name = ? ORDER BY place", [.text(name)]) { row in
                    ids.append(Int(sqlite3_column_int64(row, 0)))
                }
                return try ids.map { id in
                    var product = Product.make(id)
                    try database.run("SELECT field, value FROM products WHERE id = ?", [.integer(id)]) { row in
                        Self.set(SQLiteDatabase.text(row, 0), of: &product, from: row, column: 1)
                    }
                    return product
                }
            case .columns:
                var products: [Product] = []
                let names = Self.columns.map { "products.\($0)" }.joined(separator: ", ")
                let query = """
                    SELECT \(names) FROM lists JOIN products ON products.id = lists.id
                    WHERE lists.name = ? ORDER BY place
                    """
                try database.run(query, [.text(name)]) { row in
                    products.append(
                        Product(
                            id: Int(sqlite3_column_int64(row, 0)),
                            name: SQLiteDatabase.text(row, 1),
                            brand: SQLiteDatabase.text(row, 2),
                            price: sqlite3_column_double(row, 3),
                            stock: Int(sqlite3_column_int64(row, 4)),
                            isOnSale: sqlite3_column_int64(row, 5) != 0,
                            rating: sqlite3_column_double(row, 6),
                            summary: SQLiteDatabase.text(row, 7),
                            changedAt: sqlite3_column_double(row, 8),
                            maker: .init(Int(sqlite3_column_int64(row, 9)))
                        )
                    )
                }
                return products
            }
        }

        // MARK: Values

        private static func values(of product: Product) -> [SQLiteDatabase.Value] {
            [
                .integer(product.id), .text(product.name), .text(product.brand), .real(product.price),
                .integer(product.stock), .integer(product.isOnSale ? 1 : 0), .real(product.rating),
                .text(product.summary), .real(product.changedAt), .integer(product.maker.id),
            ]
        }

        private static func set(
            _ field: String,
            of product: inout Product,
            from row: OpaquePointer,
            column: Int32
        ) {
            switch field {
            case "name": product.name = SQLiteDatabase.text(row, column)
            case "brand": product.brand = SQLiteDatabase.text(row, column)
            case "price": product.price = sqlite3_column_double(row, column)
            case "stock": product.stock = Int(sqlite3_column_int64(row, column))
            case "isOnSale": product.isOnSale = sqlite3_column_int64(row, column) != 0
            case "rating": product.rating = sqlite3_column_double(row, column)
            case "summary": product.summary = SQLiteDatabase.text(row, column)
            case "changedAt": product.changedAt = sqlite3_column_double(row, column)
            case "maker": product.maker = .init(Int(sqlite3_column_int64(row, column)))
            default: break
            }
        }
    }
#endif
