import Foundation

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
    // Unchecked exclusivity, here and below: an encoder is used from one thread, and a value's own code is called only
    // between accesses: `finish` takes a pending write out before it runs it.
    @exclusivity(unchecked) private var state = State.empty
    /// Writes of nested containers and super-encoders, to run when this value is done.
    @exclusivity(unchecked) private var pending: [() throws -> Void] = []
    /// The containers in the value's scope.
    @exclusivity(unchecked) var containers: [String: any NestedContainer] = [:]

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
            return KeyedEncodingContainer(DictionaryContainer<Key>(self, dictionary, at: path))
        default:
            let dictionary = ArchiveDictionary(archiver)
            if case .empty = state { state = .dictionary(dictionary) } else { refuse(at: path) }
            return KeyedEncodingContainer(DictionaryContainer<Key>(self, dictionary, at: path))
        }
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let array) = state { return ArrayContainer(self, array, at: path) }
        let array = ArchiveArray(archiver)
        if case .empty = state { state = .array(array) } else { refuse(at: path) }
        return ArrayContainer(self, array, at: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(self) }

    func set(single slot: ArchivedSlot) {
        if case .empty = state { state = .single(slot) } else { refuse(at: path) }
    }

    /// The container under a key: the same at each request. `write` puts it in its place at the end.
    func nested<Container: NestedContainer>(
        in containers: inout [String: any NestedContainer],
        at path: CodingPath,
        _ write: @escaping (ArchiveWriter.UID) throws -> Void
    ) -> Container {
        let key = path.key.stringValue
        let old = containers[key]
        if let same = old as? Container { return same }
        let container = Container(archiver)
        if old != nil { refuse(at: path) }
        containers[key] = container
        atEnd { try write(container.finish()) }
        return container
    }

    private func refuse(at path: CodingPath?) {
        archiver.record(
            ArchiveError(
                .encodingFailed,
                "a value asked for two kinds of containers",
                keyPath: CodingPath.keys(path).map(\.stringValue)
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
            archiver.fillObject(uid, as: info, [])
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

/// A container inside a value, which is written when the value is done.
protocol NestedContainer: AnyObject {
    init(_ archiver: KeyedArchiver)
    func finish() -> ArchiveWriter.UID
}

/// An `NSArray` that grows while other objects are written.
final class ArchiveArray: NestedContainer {
    private let archiver: KeyedArchiver
    private let uid: ArchiveWriter.UID
    var members: [ArchiveWriter.UID] = []

    init(_ archiver: KeyedArchiver) {
        self.archiver = archiver
        uid = archiver.writer.reserveObject()
    }

    func finish() -> ArchiveWriter.UID {
        archiver.fillObject(uid, as: .of(NSArray.self), [("NS.objects", archiver.writer.array(members))])
        return uid
    }
}

/// An `NSDictionary` with string keys that grows while other objects are written.
final class ArchiveDictionary: NestedContainer {
    private let archiver: KeyedArchiver
    private let uid: ArchiveWriter.UID
    var containers: [String: any NestedContainer] = [:]
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
        keys.append(archiver.string(key, as: .name))
        values.append(value)
    }

    func finish() -> ArchiveWriter.UID {
        let fields = [
            ("NS.keys", archiver.writer.array(keys)), ("NS.objects", archiver.writer.array(values)),
        ]
        archiver.fillObject(uid, as: .of(NSDictionary.self), fields)
        return uid
    }
}

/// A dictionary with string or integer keys: an `NSDictionary` in the archive.
protocol ArchivableDictionary {
    /// Writes the dictionary; `nil` if its keys are of another type, so that Codable's own form is used.
    func slot(_ archiver: KeyedArchiver, _ path: CodingPath?) throws -> ArchiveWriter.UID?
}

extension Optional: ArchivableDictionary where Wrapped: ArchivableDictionary {
    func slot(_ archiver: KeyedArchiver, _ path: CodingPath?) throws -> ArchiveWriter.UID? {
        guard let dictionary = self else { return nil }
        return try dictionary.slot(archiver, path)
    }
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
                let slot = try archiver.slot(
                    of: value,
                    at: CodingPath(path, ArchiveKey(stringValue: "\(key)"))
                )
                valueUIDs.append(archiver.member(slot))
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
