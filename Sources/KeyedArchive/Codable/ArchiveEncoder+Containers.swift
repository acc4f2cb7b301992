import Foundation

// Every `encode` below exists because the standard library's protocols ask for one per scalar type.

extension ArchiveEncoder {
    /// Encodes keyed values straight into the scope on top of the archiver's stack.
    struct ScopeContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        private let encoder: ArchiveEncoder
        private let writer: ArchiveWriter
        private let serial: UInt32

        init(_ encoder: ArchiveEncoder, _ serial: UInt32) {
            self.encoder = encoder
            writer = encoder.archiver.writer
            self.serial = serial
        }

        var codingPath: [any CodingKey] { encoder.codingPath }

        @inline(__always)
        private func set(_ key: Key, _ value: @autoclosure () -> ArchiveWriter.Reference) throws {
            guard writer.currentSerial == serial else { throw encoder.outOfTurn }
            let reference = value()
            writer.set(key.stringValue, reference)
        }

        func encodeNil(forKey key: Key) throws { try set(key, writer.reference(to: 0)) }
        func encode(_ value: Bool, forKey key: Key) throws { try set(key, writer.scalar(value)) }
        func encode(_ value: Double, forKey key: Key) throws { try set(key, writer.scalar(value)) }
        func encode(_ value: Float, forKey key: Key) throws { try set(key, writer.scalar(value)) }
        func encode(_ value: Int, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: Int8, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: Int16, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: Int32, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: Int64, forKey key: Key) throws { try set(key, writer.scalar(value)) }
        func encode(_ value: UInt, forKey key: Key) throws { try set(key, writer.scalar(UInt64(value))) }
        func encode(_ value: UInt8, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: UInt16, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: UInt32, forKey key: Key) throws { try set(key, writer.scalar(Int64(value))) }
        func encode(_ value: UInt64, forKey key: Key) throws { try set(key, writer.scalar(value)) }

        func encode(_ value: String, forKey key: Key) throws {
            try set(key, writer.reference(to: encoder.archiver.string(value)))
        }

        func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            guard writer.currentSerial == serial else { throw encoder.outOfTurn }
            let slot = try encoder.archiver.slot(of: value, at: CodingPath(encoder.path, key))
            let reference = encoder.archiver.reference(slot)
            try set(key, reference)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            let path = CodingPath(encoder.path, key)
            return KeyedEncodingContainer(DictionaryContainer<Nested>(encoder, nested(at: path), at: path))
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            let path = CodingPath(encoder.path, key)
            return ArrayContainer(encoder, nested(at: path), at: path)
        }

        private func nested<Container: NestedContainer>(at path: CodingPath) -> Container {
            encoder.nested(in: &encoder.containers, at: path) { try put(.object($0), path.key) }
        }

        func superEncoder() -> any Encoder { superEncoder(ArchiveKey.superKey) }
        func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

        private func superEncoder(_ key: some CodingKey) -> any Encoder {
            let child = ArchiveEncoder(encoder.archiver, CodingPath(encoder.path, key), nested: true)
            encoder.atEnd { try put(child.finish(as: .of(NSDictionary.self)), key) }
            return child
        }

        private func put(_ slot: ArchivedSlot, _ key: any CodingKey) throws {
            let reference = encoder.archiver.reference(slot)
            guard writer.currentSerial == serial else { throw encoder.outOfTurn }
            writer.set(key.stringValue, reference)
        }
    }

    /// Encodes keyed values into an `NSDictionary` beside the scope on the stack.
    struct DictionaryContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        private let encoder: ArchiveEncoder
        private let dictionary: ArchiveDictionary
        private let path: CodingPath?

        init(_ encoder: ArchiveEncoder, _ dictionary: ArchiveDictionary, at path: CodingPath?) {
            self.encoder = encoder
            self.dictionary = dictionary
            self.path = path
        }

        var codingPath: [any CodingKey] { CodingPath.keys(path) }

        func encodeNil(forKey key: Key) throws {
            dictionary.set(key.stringValue, NSNull().archive(into: encoder.archiver))
        }

        func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            let slot = try encoder.archiver.slot(of: value, at: CodingPath(path, key))
            dictionary.set(key.stringValue, encoder.archiver.member(slot))
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            let path = CodingPath(self.path, key)
            return KeyedEncodingContainer(DictionaryContainer<Nested>(encoder, nested(at: path), at: path))
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            let path = CodingPath(self.path, key)
            return ArrayContainer(encoder, nested(at: path), at: path)
        }

        private func nested<Container: NestedContainer>(at path: CodingPath) -> Container {
            encoder.nested(in: &dictionary.containers, at: path) { [dictionary] in
                dictionary.set(path.key.stringValue, $0)
            }
        }

        func superEncoder() -> any Encoder { superEncoder(ArchiveKey.superKey) }
        func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

        private func superEncoder(_ key: some CodingKey) -> any Encoder {
            let child = ArchiveEncoder(encoder.archiver, CodingPath(path, key), nested: true)
            encoder.atEnd { [dictionary, encoder] in
                let slot = try child.finish(as: .of(NSDictionary.self))
                dictionary.set(key.stringValue, encoder.archiver.member(slot))
            }
            return child
        }
    }

    /// Encodes the members of an `NSArray`.
    struct ArrayContainer: UnkeyedEncodingContainer {
        private let encoder: ArchiveEncoder
        private let array: ArchiveArray
        private let path: CodingPath?

        init(_ encoder: ArchiveEncoder, _ array: ArchiveArray, at path: CodingPath?) {
            self.encoder = encoder
            self.array = array
            self.path = path
        }

        var codingPath: [any CodingKey] { CodingPath.keys(path) }
        var count: Int { array.members.count }

        func encodeNil() throws { array.members.append(NSNull().archive(into: encoder.archiver)) }

        func encode(_ value: String) throws { array.members.append(encoder.archiver.string(value)) }

        func encode<T: Encodable>(_ value: T) throws {
            let slot = try encoder.archiver.slot(of: value, at: CodingPath(path, ArchiveKey(index: count)))
            array.members.append(encoder.archiver.member(slot))
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            let nested = ArchiveDictionary(encoder.archiver)
            return KeyedEncodingContainer(
                DictionaryContainer<Nested>(encoder, nested, at: append { nested.finish() })
            )
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            let nested = ArchiveArray(encoder.archiver)
            return ArrayContainer(encoder, nested, at: append { nested.finish() })
        }

        func superEncoder() -> any Encoder {
            let position = CodingPath(path, ArchiveKey(index: count))
            let child = ArchiveEncoder(encoder.archiver, position, nested: true)
            _ = append { [encoder] in
                encoder.archiver.member(try child.finish(as: .of(NSDictionary.self)))
            }
            return child
        }

        /// Takes the next place in the array for a member that is known at the end.
        private func append(_ member: @escaping () throws -> ArchiveWriter.UID) -> CodingPath {
            let index = count
            array.members.append(0)
            encoder.atEnd { [array] in array.members[index] = try member() }
            return CodingPath(path, ArchiveKey(index: index))
        }
    }

    /// Encodes a value that stands for itself.
    struct SingleContainer: SingleValueEncodingContainer {
        private let encoder: ArchiveEncoder

        init(_ encoder: ArchiveEncoder) { self.encoder = encoder }

        var codingPath: [any CodingKey] { encoder.codingPath }

        private func set(_ value: (ArchiveWriter) -> ArchiveWriter.Reference) {
            encoder.set(single: .inline(value(encoder.archiver.writer)))
        }

        func encodeNil() throws { encoder.set(single: .object(0)) }
        func encode(_ value: Bool) throws { set { $0.scalar(value) } }
        func encode(_ value: String) throws { encoder.set(single: .object(encoder.archiver.string(value))) }
        func encode(_ value: Double) throws { set { $0.scalar(value) } }
        func encode(_ value: Float) throws { set { $0.scalar(value) } }
        func encode(_ value: Int) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: Int8) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: Int16) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: Int32) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: Int64) throws { set { $0.scalar(value) } }
        func encode(_ value: UInt) throws { set { $0.scalar(UInt64(value)) } }
        func encode(_ value: UInt8) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: UInt16) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: UInt32) throws { set { $0.scalar(Int64(value)) } }
        func encode(_ value: UInt64) throws { set { $0.scalar(value) } }

        func encode<T: Encodable>(_ value: T) throws {
            encoder.set(single: try encoder.archiver.slot(of: value, at: encoder.path))
        }
    }
}
