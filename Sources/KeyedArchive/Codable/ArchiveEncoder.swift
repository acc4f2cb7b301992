import Foundation

/// An encoded Codable value: a scalar that can stand inline, or an object.
enum ArchivedSlot {
    case inline(ArchiveWriter.Reference)
    case object(ArchiveWriter.UID)
}

extension KeyedArchiver {
    /// Archives a Codable value under the key `root`.
    ///
    /// The archive looks like that of an `NSCoding` class with the same fields: the value's type is its class,
    /// its coding keys are its keys, numbers and Booleans stand inline, arrays are `NSArray` and dictionaries
    /// with string or integer keys `NSDictionary`.
    ///
    /// - Throws: ``ArchiveError`` with code `.encodingFailed` and the cause if the value's `encode(to:)` throws,
    ///   `.limitExceeded` if it nests more than 1,000 deep.
    /// - Complexity: O(*n*) in the values that are archived.
    public static func archivedData(encoding value: some Encodable) throws(ArchiveError) -> Data {
        try archive(encoding: value) { $0.finishedData() }
    }

    package static func archive(encoding value: some Encodable) throws(ArchiveError) -> [UInt8] {
        try archive(encoding: value) { $0.finishedBytes() }
    }

    private static func archive<Result>(
        encoding value: some Encodable,
        _ body: (ArchiveWriter) -> Result
    ) throws(ArchiveError) -> Result {
        let archiver = KeyedArchiver()
        let uid = archiver.object(codable: value)
        if !archiver.hasFailed { archiver.writer.set(rootKey, archiver.writer.reference(to: uid)) }
        return try archiver.finish(body)
    }

    /// The place of a Codable value in `$objects`; 0 for nil and after an error, which is recorded.
    func object(codable value: some Encodable) -> ArchiveWriter.UID {
        recorded(type(of: value)) { object(try slot(of: value, at: nil)) } ?? 0
    }

    /// Archives a Codable value under a key of the innermost scope. Errors are recorded.
    func encode(codable value: some Encodable, forKey key: String) {
        setReference(forKey: key) { recorded(type(of: value)) { reference(try slot(of: value, at: nil)) } ?? 0 }
    }

    /// Runs `body`, and records its error.
    private func recorded<Result>(_ type: Any.Type, _ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch let error as ArchiveError {
            record(error)
        } catch let EncodingError.invalidValue(_, context) {
            record(
                ArchiveError(
                    .encodingFailed,
                    context.debugDescription,
                    keyPath: context.codingPath.map(\.stringValue),
                    cause: context.underlyingError
                )
            )
        } catch {
            let thrown = ClassNames.name(of: Swift.type(of: error))
            let name = ClassNames.name(of: type)
            record(ArchiveError(.encodingFailed, "the encode(to:) of \(name) threw a \(thrown)", cause: error))
        }
        return nil
    }

    func object(_ slot: ArchivedSlot) -> ArchiveWriter.UID {
        switch slot {
        case .inline(let reference): writer.addObject(reference)
        case .object(let uid): uid
        }
    }

    /// The place of a collection's member: nil has none, and is `NSNull` as in Foundation.
    func member(_ slot: ArchivedSlot) -> ArchiveWriter.UID {
        if case .object(0) = slot { return NSNull().archive(into: self) }
        return object(slot)
    }

    func reference(_ slot: ArchivedSlot) -> ArchiveWriter.Reference {
        switch slot {
        case .inline(let reference): reference
        case .object(let uid): writer.reference(to: uid)
        }
    }

    /// Encodes a value of any Codable type.
    func slot<T: Encodable>(of value: T, at path: CodingPath?) throws -> ArchivedSlot {
        if let known = intrinsicSlot(of: value) { return known }
        guard enter() else { throw failure(path) }
        defer { leave() }
        if let dictionary = value as? any ArchivableDictionary, let uid = try dictionary.slot(self, path) {
            return .object(uid)
        }
        let depth = writer.depth
        let encoder = ArchiveEncoder(self, path, nested: false)
        do {
            try value.encode(to: encoder)
            return try encoder.finish(as: .of(T.self))
        } catch {
            // A caller that catches this error may go on with other values.
            writer.abandonScopes(above: depth)
            throw error
        }
    }

    private func failure(_ path: CodingPath?) -> ArchiveError {
        error as? ArchiveError ?? ArchiveError(.encodingFailed, "the archive is finished already")
    }

    private func intrinsicSlot<T>(of value: T) -> ArchivedSlot? {
        // Types first: comparing them costs less than a cast that fails.
        if T.self == String.self, let value = value as? String { return .object(string(value)) }
        if T.self == Date.self, let value = value as? Date { return .object(value.archive(into: self)) }
        if T.self == Data.self, let value = value as? Data { return .object(value.archive(into: self)) }
        if T.self == URL.self, let value = value as? URL { return .object(value.archive(into: self)) }
        if T.self == UUID.self, let value = value as? UUID { return .object(value.archive(into: self)) }
        if T.self == Decimal.self, let value = value as? Decimal { return .object(value.archive(into: self)) }
        return nil
    }
}

/// The way from the root to a value, kept as links: it is needed for errors only.
final class CodingPath {
    let parent: CodingPath?
    let key: any CodingKey

    init(_ parent: CodingPath?, _ key: any CodingKey) {
        self.parent = parent
        self.key = key
    }

    static func keys(_ path: CodingPath?) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var next = path
        while let current = next {
            keys.append(current.key)
            next = current.parent
        }
        return keys.reversed()
    }
}

/// A position in an array, or the key `super`.
struct ArchiveKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let superKey = ArchiveKey(stringValue: "super")
}

/// Encodes one Codable value into an archiver.
final class ArchiveEncoder: Encoder {
    private enum State {
        case empty
        /// The value is an object with its scope on the archiver's stack.
        case scope(ArchiveWriter.UID, serial: UInt32)
        case array(ArchiveArray)
        case dictionary(ArchiveDictionary)
        case single(ArchivedSlot)
    }

    let archiver: KeyedArchiver
    let path: CodingPath?
    /// Whether the value is encoded beside other values of the same scope (`superEncoder`), so that it can have
    /// no scope of its own on the stack.
    private let nested: Bool
    private var state = State.empty
    /// Writes of nested containers and super-encoders, to run when this value is done.
    private var pending: [() throws -> Void] = []

    init(_ archiver: KeyedArchiver, _ path: CodingPath?, nested: Bool) {
        self.archiver = archiver
        self.path = path
        self.nested = nested
    }

    var codingPath: [any CodingKey] { CodingPath.keys(path) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Has `body` run when the value is done.
    func atEnd(_ body: @escaping () throws -> Void) { pending.append(body) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        switch state {
        case .empty where !nested:
            let uid = archiver.writer.reserveObject()
            archiver.writer.pushScope()
            let serial = archiver.writer.currentSerial
            state = .scope(uid, serial: serial)
            return KeyedEncodingContainer(ScopeContainer<Key>(self, serial))
        case .scope(_, let serial):
            return KeyedEncodingContainer(ScopeContainer<Key>(self, serial))
        case .dictionary(let dictionary):
            return KeyedEncodingContainer(DictionaryContainer<Key>(self, dictionary, path))
        default:
            let dictionary = ArchiveDictionary(archiver)
            if case .empty = state { state = .dictionary(dictionary) } else { refuse() }
            return KeyedEncodingContainer(DictionaryContainer<Key>(self, dictionary, path))
        }
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let array) = state { return ArrayContainer(self, array, path) }
        let array = ArchiveArray(archiver)
        if case .empty = state { state = .array(array) } else { refuse() }
        return ArrayContainer(self, array, path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(self) }

    func set(single slot: ArchivedSlot) {
        if case .empty = state { state = .single(slot) } else { refuse() }
    }

    private func refuse() {
        archiver.record(
            ArchiveError(
                .encodingFailed,
                "a value asked for two kinds of containers",
                keyPath: codingPath.map(\.stringValue)
            )
        )
    }

    /// Ends the value: runs the pending writes, then writes the value itself.
    func finish(as info: ArchivedClass) throws -> ArchivedSlot {
        // Backwards: a container that was asked for inside another one was asked for after it.
        while let last = pending.popLast() { try last() }
        switch state {
        case .empty:
            let uid = archiver.writer.reserveObject()
            archiver.fillObject(uid, info, [])
            return .object(uid)
        case .scope(let uid, let serial):
            guard archiver.writer.currentSerial == serial else { throw outOfTurn }
            archiver.writer.popObject(uid, class: info)
            return .object(uid)
        case .array(let array): return .object(array.finish())
        case .dictionary(let dictionary): return .object(dictionary.finish())
        case .single(let slot): return slot
        }
    }

    var outOfTurn: ArchiveError {
        ArchiveError(
            .encodingFailed,
            "a container was used while another value was being encoded",
            keyPath: codingPath.map(\.stringValue)
        )
    }
}

/// An `NSArray` that grows while other objects are written.
final class ArchiveArray {
    private let archiver: KeyedArchiver
    private let uid: ArchiveWriter.UID
    var members: [ArchiveWriter.UID] = []

    init(_ archiver: KeyedArchiver) {
        self.archiver = archiver
        uid = archiver.writer.reserveObject()
    }

    func finish() -> ArchiveWriter.UID {
        archiver.fillObject(uid, .of(NSArray.self), [("NS.objects", archiver.writer.array(members))])
        return uid
    }
}

/// An `NSDictionary` with string keys that grows while other objects are written.
final class ArchiveDictionary {
    private let archiver: KeyedArchiver
    private let uid: ArchiveWriter.UID
    private var keys: [ArchiveWriter.UID] = []
    private var values: [ArchiveWriter.UID] = []
    private var positions: [String: Int] = [:]

    init(_ archiver: KeyedArchiver) {
        self.archiver = archiver
        uid = archiver.writer.reserveObject()
    }

    func set(_ key: String, _ value: ArchiveWriter.UID) {
        if let position = positions[key] {
            values[position] = value
            return
        }
        positions[key] = keys.count
        keys.append(archiver.string(key))
        values.append(value)
    }

    func finish() -> ArchiveWriter.UID {
        let fields = [
            ("NS.keys", archiver.writer.array(keys)), ("NS.objects", archiver.writer.array(values)),
        ]
        archiver.fillObject(uid, .of(NSDictionary.self), fields)
        return uid
    }
}

/// A dictionary with string or integer keys: an `NSDictionary` in the archive.
protocol ArchivableDictionary {
    /// Writes the dictionary; `nil` if its keys are of another type, so that Codable's own form is used.
    func slot(_ archiver: KeyedArchiver, _ path: CodingPath?) throws -> ArchiveWriter.UID?
}

extension Dictionary: ArchivableDictionary where Value: Encodable {
    func slot(_ archiver: KeyedArchiver, _ path: CodingPath?) throws -> ArchiveWriter.UID? {
        guard Key.self == String.self || Key.self == Int.self else { return nil }
        let uid = archiver.writer.reserveObject()
        let depth = archiver.writer.depth
        archiver.writer.pushScope()
        do {
            let keyUIDs = keys.map { archiver.uid(of: $0) }
            var valueUIDs: [ArchiveWriter.UID] = []
            valueUIDs.reserveCapacity(count)
            for (key, value) in self {
                let path = CodingPath(path, ArchiveKey(stringValue: "\(key)"))
                valueUIDs.append(archiver.member(try archiver.slot(of: value, at: path)))
            }
            archiver.writer.set("NS.keys", archiver.writer.array(keyUIDs))
            archiver.writer.set("NS.objects", archiver.writer.array(valueUIDs))
            archiver.writer.popObject(uid, class: .of(NSDictionary.self))
            return uid
        } catch {
            archiver.writer.abandonScopes(above: depth)
            throw error
        }
    }
}
