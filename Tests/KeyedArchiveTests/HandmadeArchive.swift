import Foundation

/// The bytes of an archive with parts shared in ways that no archiver produces: one dictionary or string of the
/// property list may stand for any number of objects.
struct HandmadeArchive {
    /// The number of an object in the property list.
    typealias Part = Int

    private enum Object {
        case bytes([UInt8])
        case array([Part])
        case dictionary(keys: [Part], values: [Part])
    }

    private var objects: [Object] = []
    private var places: [Part] = []
    private var names: [String: Part] = [:]
    private var uids: [Int: Part] = [:]

    init() { _ = place(ascii("$null")) }

    // MARK: Parts

    private mutating func add(_ object: Object) -> Part {
        objects.append(object)
        return objects.count - 1
    }

    private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
        if count < 15 { return [marker | UInt8(count)] }
        return [marker | 15, 0x12] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    }

    mutating func ascii(_ text: String) -> Part {
        add(.bytes(Self.head(0x50, text.utf8.count) + Array(text.utf8)))
    }

    mutating func utf16(_ text: String) -> Part {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        return add(.bytes(Self.head(0x60, text.utf16.count) + units))
    }

    mutating func data(_ data: Data) -> Part { add(.bytes(Self.head(0x40, data.count) + Array(data))) }

    mutating func real(_ number: Double) -> Part {
        add(.bytes([0x23] + (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (56 - 8 * $0)) }))
    }

    mutating func integer(_ number: Int32) -> Part {
        add(.bytes([0x12] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * Int32($0))) }))
    }

    mutating func array(_ members: [Part]) -> Part { add(.array(members)) }

    mutating func dictionary(_ keys: [Part], _ values: [Part]) -> Part {
        add(.dictionary(keys: keys, values: values))
    }

    /// A string that is there once.
    mutating func name(_ text: String) -> Part {
        if let known = names[text] { return known }
        let made = ascii(text)
        names[text] = made
        return made
    }

    // MARK: Objects of the archive

    /// Gives a part one more place among the archive's objects.
    mutating func place(_ part: Part) -> Int {
        places.append(part)
        return places.count - 1
    }

    /// The reference to a place.
    mutating func uid(_ place: Int) -> Part {
        if let known = uids[place] { return known }
        let made = add(.bytes([0x83] + (0..<4).map { UInt8(truncatingIfNeeded: place >> (24 - 8 * $0)) }))
        uids[place] = made
        return made
    }

    /// The reference to a class.
    mutating func cls(_ className: String) -> Part {
        let chain = array([name(className), name("NSObject")])
        return uid(place(dictionary([name("$classname"), name("$classes")], [name(className), chain])))
    }

    /// The reference to an array or a set.
    mutating func collection(_ className: String, _ members: [Part]) -> Part {
        let members = array(members)
        return uid(place(dictionary([name("NS.objects"), name("$class")], [members, cls(className)])))
    }

    /// - Parameter root: the reference to the root object.
    mutating func bytes(root: Part) -> Data {
        let top = dictionary([name("root")], [root])
        let all = array(places)
        let keys = ["$version", "$archiver", "$top", "$objects"].map { name($0) }
        let parts = dictionary(keys, [integer(100_000), name("NSKeyedArchiver"), top, all])
        func reference(_ part: Part) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: part >> (24 - 8 * $0)) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .bytes(let own): bytes += own
            case .array(let members): bytes += Self.head(0xA0, members.count) + members.flatMap(reference)
            case .dictionary(let keys, let values):
                bytes += Self.head(0xD0, keys.count) + (keys + values).flatMap(reference)
            }
        }
        let table = bytes.count
        bytes += offsets.flatMap(reference)
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [objects.count, parts, table] { bytes += [0, 0, 0, 0] + reference(number) }
        return Data(bytes)
    }
}
