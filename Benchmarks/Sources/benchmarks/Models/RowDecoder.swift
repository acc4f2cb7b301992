#if SQLITE
    import CSQLite
    import Foundation

    /// Decodes a `Decodable` from the columns of a row, as libraries over SQLite do for their users: a column for each field
    /// by its name, dates as seconds, identifiers and URLs as text, and JSON in a column for all that is not a single value.
    struct RowDecoder: Decoder {
        let row: OpaquePointer
        /// The numbers of the columns, which are the same for all rows of a statement.
        let columns: [String: Int32]
        let codingPath: [any CodingKey] = []
        let userInfo: [CodingUserInfoKey: Any] = [:]

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(RowContainer(row: row, columns: columns))
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
            throw BenchmarkError("a row has columns by name")
        }

        func singleValueContainer() throws -> any SingleValueDecodingContainer {
            throw BenchmarkError("a row has columns by name")
        }
    }

    private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let row: OpaquePointer
        let columns: [String: Int32]
        let codingPath: [any CodingKey] = []
        var allKeys: [Key] { columns.keys.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { columns[key.stringValue] != nil }

        private func column(_ key: Key) throws -> ColumnDecoder {
            guard let column = columns[key.stringValue] else {
                throw BenchmarkError("there is no column \(key.stringValue)")
            }
            return ColumnDecoder(row: row, column: column)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try column(key).decodeNil() }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try column(key).integer() != 0 }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try column(key).text() }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try column(key).real() }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { Int(try column(key).integer()) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try column(key).decode(type) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            throw BenchmarkError("a column has no columns")
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw BenchmarkError("a column has no columns")
        }

        func superDecoder() throws -> any Decoder { throw BenchmarkError("a row has no other") }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw BenchmarkError("a row has no other") }
    }

    /// One column: a value of its own, or JSON.
    private struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
        /// The type is not a single value.
        private struct IsComposed: Error {}

        let row: OpaquePointer
        let column: Int32
        let codingPath: [any CodingKey] = []
        let userInfo: [CodingUserInfoKey: Any] = [:]

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            throw IsComposed()
        }
        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw IsComposed() }
        func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

        func integer() throws -> Int64 { sqlite3_column_int64(row, column) }
        func real() throws -> Double { sqlite3_column_double(row, column) }
        func text() throws -> String {
            guard let text = sqlite3_column_text(row, column) else { throw BenchmarkError("a column is null") }
            return String(cString: text)
        }

        func decodeNil() -> Bool { sqlite3_column_type(row, column) == SQLITE_NULL }
        func decode(_ type: Bool.Type) throws -> Bool { try integer() != 0 }
        func decode(_ type: String.Type) throws -> String { try text() }
        func decode(_ type: Double.Type) throws -> Double { try real() }
        func decode(_ type: Int.Type) throws -> Int { Int(try integer()) }

        func decode<T: Decodable>(_ type: T.Type) throws -> T {
            let value: Any? =
                switch type {
                case is Date.Type: Date(timeIntervalSinceReferenceDate: try real())
                case is URL.Type: URL(string: try text())
                case is UUID.Type: UUID(uuidString: try text())
                case is Decimal.Type: Decimal(string: try text())
                default: nil
                }
            if let value = value as? T { return value }
            do {
                return try T(from: self)
            } catch is IsComposed {
                guard let bytes = sqlite3_column_blob(row, column) else { throw BenchmarkError("a column is null") }
                let data = Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, column)))
                return try JSONDecoder().decode(type, from: data)
            }
        }
    }
#endif
