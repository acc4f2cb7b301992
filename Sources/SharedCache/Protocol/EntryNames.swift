import ArchiveStore
import RedisWire

/// The names that the engine knows a cache's entries by.
///
///     tc:<prefix>:<cache>:gen                               the generation
///     tc:<prefix>:<cache>:<schema>.<generation>:{<key>}     an entry
///     tcl:<prefix>:<cache>:<schema>.<generation>:{<key>}    the lease of its key
///     tcl:<prefix>:<cache>:tags                             changes with each removal by tag
///     tcl:<prefix>:<cache>:part:<serial>.<number>:{<key>}   a part of a large entry that is being saved
///
/// Cache and key are percent-encoded, so that each name has one reading, is printable, and its braces are those that a
/// cluster looks for: all that belongs to one key is on one node.
struct EntryNames: Sendable {
    let cache: String
    let schema: UInt32
    /// The numbers of forms whose entries of a key go whenever the key's entry is changed.
    let olderSchemas: [UInt32]
    /// The name of the generation.
    let generation: String
    private let beforeGeneration: String

    /// - Parameters:
    ///   - prefix: the beginning of all names of a tier: see ``prefix(_:)``.
    init(prefix: String, cache: String, schema: UInt32, olderSchemas: [UInt32] = []) {
        self.cache = prefix + Self.encoded(cache) + ":"
        self.schema = schema
        self.olderSchemas = Set(olderSchemas).subtracting([schema]).sorted()
        generation = self.cache + "gen"
        beforeGeneration = "\(self.cache)\(schema)."
    }

    /// The beginning of the names of all entries of this schema.
    var entries: String { beforeGeneration }

    static func prefix(_ name: String) -> String { "tc:\(name):" }

    /// The beginning of the names of a generation's entries.
    func start(_ generation: Generation) -> String { beforeGeneration + generation.description + ":{" }

    private func start(_ generation: Generation, _ schema: UInt32) -> String { "\(cache)\(schema).\(generation):{" }

    func entry(_ key: String, _ generation: Generation) -> String {
        Self.entry(key, startingWith: start(generation))
    }

    /// The name of an entry, whose beginning many entries share.
    static func entry(_ key: String, startingWith start: String) -> String {
        var name = start
        name.reserveCapacity(start.utf8.count + key.utf8.count + 1)
        name += encoded(key)
        name += "}"
        return name
    }

    /// The commands that remove a key's entries of older forms, and end their leases; none if there are no such forms. By
    /// a script: the server does not tell a client of its own plain commands, and caches of older forms may be on the
    /// same connection.
    func removingOlder(_ key: StoreKey, _ generation: Generation) -> [RedisCommand] {
        let names = olderSchemas.flatMap { schema in
            let name = start(generation, schema) + Self.encoded(key.string) + "}"
            return [name, Self.lease(ofEntry: name)]
        }
        if names.isEmpty { return [] }
        let script: RedisCommand.Argument = "return redis.call('DEL',unpack(KEYS))"
        return [RedisCommand(["EVAL", script, .integer(names.count)] + names.map { .text($0) })]
    }

    /// The name of a random value that each removal by tag changes: a load that began before saves nothing tagged.
    var tagRemovals: String { Self.untracked(cache) + "tags" }

    /// The name of the lease of an entry's key: on the same node of a cluster, and with another beginning, so that its
    /// changes are not told.
    static func lease(ofEntry name: String) -> String { untracked(name) }

    /// The name of a part of a large entry on its way: on the same node of a cluster, and its changes are not told.
    ///
    /// - Parameter serial: of the save.
    func part(_ number: Int, of key: StoreKey, serial: UInt64) -> String {
        "\(Self.untracked(cache))part:\(String(serial, radix: 16)).\(number):{\(Self.encoded(key.string))}"
    }

    private static func untracked(_ name: String) -> String {
        "tcl" + name[name.utf8.index(name.startIndex, offsetBy: 2)...]
    }

    /// Whether a name is that of an entry of a generation, of any schema.
    func isEntry(_ name: String, of generation: Generation) -> Bool {
        schema(ofEntry: name, generation) != nil
    }

    /// The schema of an entry of a generation; `nil` for any other name.
    func schema(ofEntry name: String, _ generation: Generation) -> UInt32? {
        guard name.hasPrefix(cache) else { return nil }
        let digits = name.dropFirst(cache.count).prefix { $0.isASCII && $0.isNumber }
        guard name.dropFirst(cache.count + digits.count).hasPrefix(".\(generation):{") else { return nil }
        return UInt32(digits)
    }

    /// The key of an entry's name.
    ///
    /// - Returns: `nil` for any other name, or of another schema or generation.
    func key(ofEntry name: String, _ generation: Generation) -> String? {
        let start = start(generation)
        guard name.hasPrefix(start), name.hasSuffix("}") else { return nil }
        return Self.decoded(name.dropFirst(start.count).dropLast())
    }

    /// A pattern of `SCAN` for all names with a beginning.
    static func pattern(_ start: String) -> String {
        start.reduce(into: "") { pattern, character in
            if "*?[]^\\".contains(character) { pattern.append("\\") }
            pattern.append(character)
        } + "*"
    }

    // MARK: Percent encoding

    static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy(isPlain) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ":"): false
        default: (0x21...0x7E).contains(byte)
        }
    }

    /// - Returns: `nil` unless this is how ``encoded(_:)`` writes the text.
    static func decoded(_ text: Substring) -> String? {
        guard let bytes = PercentEncoding.decoded(text), let decoded = String(validating: bytes, as: UTF8.self),
            encoded(decoded) == text
        else { return nil }
        return decoded
    }
}

/// The generation of a cache's entries: only entries saved since the last removal of all count. Two are never the
/// same.
struct Generation: Sendable, Equatable, CustomStringConvertible {
    private let number: UInt64
    let description: String

    static func random() -> Generation { Generation(number: .random(in: 0 ... .max)) }

    private init(number: UInt64) {
        self.number = number
        let digits = String(number, radix: 16)
        description = String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func == (first: Generation, second: Generation) -> Bool { first.number == second.number }

    /// - Returns: `nil` for bytes that no cache has written.
    init?(_ value: RedisValue) {
        guard let text = value.text, text.utf8.count == 16, text.utf8.first != UInt8(ascii: "+"),
            let number = UInt64(text, radix: 16)
        else { return nil }
        self.init(number: number)
    }

    /// Whether bytes of the engine are this generation, as ``init(_:)`` reads them.
    func isWritten(in value: RedisValue) -> Bool {
        if case .bulk(let bytes) = value, bytes.elementsEqual(description.utf8) { return true }
        return Generation(value) == self
    }
}
