import Foundation

/// The table that an encoder fills.
final class EncodingState {
    // Unchecked: no change of the table runs a value's own code, so that no two accesses can overlap.
    @exclusivity(unchecked) var builder: NodeBuilder
    let userInfo: [CodingUserInfoKey: any Sendable]

    init(_ limits: PropertyListLimits, userInfo: [CodingUserInfoKey: any Sendable]) {
        builder = NodeBuilder(limits: limits)
        self.userInfo = userInfo
    }

    @inline(__always)
    func append(_ node: Node) throws(PropertyListError) -> Int { try builder.append(node) }

    /// Whether the table was given away: an encoder that a value has kept changes nothing any longer.
    @exclusivity(unchecked) private(set) var isOver = false

    /// The containers that values asked for by their keys, by the places of the dictionaries that they are in.
    @exclusivity(unchecked) private var containers: [Int: [String: EncodingPlace]] = [:]
    /// The coding path of a value that asked for two kinds of containers.
    @exclusivity(unchecked) private(set) var refused: [any CodingKey]?

    func container(_ name: String, in slot: Int) -> EncodingPlace? { containers[slot]?[name] }

    func keep(_ container: EncodingPlace, _ name: String, in slot: Int) {
        if !isOver { containers[slot, default: [:]][name] = container }
    }

    func refuse(_ path: [any CodingKey]) { refused = refused ?? path }

    /// Ends the encoding. Containers refer to this state, which must not keep them.
    func end() {
        isOver = true
        containers = [:]
    }

    /// The table, once all is encoded.
    func table(_ format: PropertyListFormat) -> NodeTable {
        end()
        var all = NodeBuilder()
        swap(&all, &builder)
        return NodeTable(all, format: format)
    }
}

/// A value that is being encoded: an encoder, whose node stands in the table before its contents are known.
final class EncodingPlace: Encoder, CodingPlace {
    let state: EncodingState
    private let slot: Int
    let parent: EncodingPlace?
    let key: (any CodingKey)?
    // Unchecked, as the table.
    @exclusivity(unchecked) private var isFilled = false
    @exclusivity(unchecked) private var last: Int?
    @exclusivity(unchecked) private(set) var count = 0
    private let depth: Int
    /// A bit for the hash of each key so far: one whose bit is not set is new.
    @exclusivity(unchecked) private var hashes: UInt64 = 0
    /// The keys so far, once there are many.
    private var names: Set<String> = []

    init(_ state: EncodingState, slot: Int, parent: EncodingPlace?, key: (any CodingKey)?) {
        self.state = state
        self.slot = slot
        self.parent = parent
        self.key = key
        depth = (parent?.depth ?? -1) + 1
    }

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    // MARK: Filling

    func fill(_ node: Node) {
        guard !state.isOver else { return }
        isFilled = true
        state.builder.fill(slot, node)
    }

    func open(_ kind: Node.Kind) {
        if state.isOver { return }
        if isFilled {
            let old = state.builder.nodes[slot]
            if old.kind == kind { return }
            if old.isContainer { state.refuse(codingPath) }
        }
        fill(Node(kind, offset: 0))
    }

    /// Makes a new member of this dictionary, or replaces that of the same key.
    func add(_ member: Int, forKey name: String) {
        guard !state.isOver else { return }
        var name = name
        let (key, hash) = name.withUTF8 { bytes in
            let text = ByteView(bytes)
            let hash = KeyTexts.hash(text)
            return (state.builder.key(text, hash), hash)
        }
        if let old = existing(key, hash) { return replace(old, by: member) }
        let index = state.builder.append(key: key)
        state.builder.link(index, to: slot, after: last)
        state.builder.setNext(index, member)
        last = member
        count += 1
        state.builder.setCount(count, of: slot)
    }

    private func replace(_ key: Int, by member: Int) {
        let old = Int(state.builder.nodes[key].next)
        state.builder.setNext(key, member)
        state.builder.setNext(member, Int(state.builder.nodes[old].next))
        if last == old { last = member }
    }

    /// The index of the same key, if there is one.
    @inline(__always)
    private func existing(_ key: Node, _ hash: UInt64) -> Int? {
        let bit: UInt64 = 1 &<< (hash >> 58)
        if count < 16 {
            defer { hashes |= bit }
            return hashes & bit == 0 ? nil : search(key)
        }
        if names.isEmpty { forEachKey { _, key in names.insert(text(key)) } }
        return names.insert(text(key)).inserted ? nil : search(key)
    }

    private func text(_ key: Node) -> String { state.builder.bytes.part(key.range).text }

    private func search(_ key: Node) -> Int? {
        var found: Int?
        forEachKey { index, other in if state.builder.haveSameText(key, other) { found = index } }
        return found
    }

    private func forEachKey(_ body: (Int, Node) -> Void) {
        var key = count == 0 ? 0 : state.builder.nodes[slot].start
        while key != 0 {
            let node = state.builder.nodes[key]
            body(key, node)
            key = Int(state.builder.nodes[Int(node.next)].next)
        }
    }

    func add(_ member: Int) {
        guard !state.isOver else { return }
        state.builder.link(member, to: slot, after: last)
        last = member
        count += 1
        state.builder.setCount(count, of: slot)
    }

    // MARK: Values

    /// The node of a scalar, or `nil` for a value with an encoding of its own.
    @inline(__always)
    private func scalar<Value>(_ value: Value, key: @autoclosure () -> (any CodingKey)?) throws -> Int? {
        do throws(PropertyListError) {
            if let value = same(value, as: String.self) { return try state.builder.string(value) }
            if let value = same(value, as: Int.self) { return try state.append(.integer(value)) }
            if let value = same(value, as: Double.self) { return try state.append(.real(value)) }
            if let value = same(value, as: Bool.self) { return try state.append(.bool(value)) }
            if let value = same(value, as: Date.self) { return try state.builder.date(value) }
            if let value = same(value, as: Data.self) { return try state.builder.data(value) }
            return nil
        } catch {
            throw error.encodingError(of: value, at: codingPath + (key().map { [$0] } ?? []))
        }
    }

    /// Encodes a value here; `false` if it encodes nothing.
    func encode<Value: Encodable>(_ value: Value) throws -> Bool {
        if let scalar = try scalar(value, key: nil) {
            fill(state.builder.nodes[scalar])
            return true
        }
        do throws(PropertyListError) {
            try PropertyListLimits.check(depth: depth)
        } catch {
            throw error.encodingError(of: value, at: codingPath)
        }
        try value.encode(to: self)
        return isFilled
    }

    /// The node of a value that is to be a member.
    func member<Value: Encodable>(_ value: Value, key: @autoclosure () -> any CodingKey) throws -> Int {
        if let scalar = try scalar(value, key: key()) { return scalar }
        let place = try place(key())
        if try !place.encode(value) { place.open(.dictionary) }
        return place.slot
    }

    /// A place for a member that is encoded later, an empty dictionary until then.
    func place(_ key: any CodingKey) throws -> EncodingPlace {
        try EncodingPlace(state, slot: state.append(Node(.dictionary, offset: 0)), parent: self, key: key)
    }

    /// A member of this dictionary that is encoded later. Runs out of values only beyond any memory.
    func nested(forKey key: any CodingKey) -> EncodingPlace {
        let slot = state.builder.placeholder()
        let place = EncodingPlace(state, slot: slot, parent: self, key: key)
        add(slot, forKey: key.stringValue)
        return place
    }

    /// The container under a key of this dictionary: the same at each request.
    func container(forKey key: any CodingKey) -> EncodingPlace {
        let name = key.stringValue
        if let old = state.container(name, in: slot) {
            // Another value may have been encoded under the key in the meantime: the last one counts.
            add(old.slot, forKey: name)
            return old
        }
        let place = nested(forKey: key)
        state.keep(place, name, in: slot)
        return place
    }

    /// A member of this array that is encoded later.
    func nested() -> EncodingPlace {
        let key = PropertyListKey(intValue: count)
        let slot = state.builder.placeholder()
        add(slot)
        return EncodingPlace(state, slot: slot, parent: self, key: key)
    }

    // MARK: Encoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        open(.dictionary)
        return KeyedEncodingContainer(KeyedEncoding<Key>(place: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open(.array)
        return UnkeyedEncoding(place: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(place: self) }
}

/// A value as one of the type that it is known to have; `nil` if it is of another type.
///
/// Why the cast is safe: both types are the same one.
@inline(__always)
func same<Value, Other>(_ value: Value, as type: Other.Type) -> Other? {
    Value.self == type ? unsafeBitCast(value, to: type) : nil
}
