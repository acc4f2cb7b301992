import Foundation

/// Makes a table from Foundation's objects.
struct ObjectWriter: ~Copyable {
    private(set) var builder = NodeBuilder()

    mutating func append(_ object: Any, depth: Int) throws(PropertyListError) -> Int {
        // The types that lists mostly have, by one comparison each; casts try conversions, too.
        let type = type(of: object)
        if type == String.self, let text = object as? String { return try builder.string(text) }
        if type == Bool.self, let value = object as? Bool { return try bool(value) }
        if type == Int.self, let value = object as? Int {
            return try builder.append(Node(.integer, offset: 0, payload: UInt64(bitPattern: Int64(value))))
        }
        if type == Double.self, let value = object as? Double {
            return try builder.append(Node(.real, offset: 0, payload: value.bitPattern))
        }
        if type == [String: Any].self, let members = object as? [String: Any] {
            return try append(members, depth: depth)
        }
        if type == [Any].self, let members = object as? [Any] { return try append(members, depth: depth) }
        if type == Date.self, let date = object as? Date { return try builder.date(date) }
        if type == NSNumber.self, let number = object as? NSNumber { return try append(number) }
        if type == Data.self, let data = object as? Data { return try builder.data(data) }
        // Collections of Swift, of any type: a cast to one of Foundation's would make an object of each member.
        if let members = object as? any ListOfMembers { return try append(members, depth: depth) }
        if let members = object as? any DictionaryOfMembers { return try append(members, depth: depth) }
        switch object {
        case let number as NSNumber: return try append(number)
        case let text as NSString: return try builder.string(text as String)
        case let text as String: return try builder.string(text)
        case let date as Date: return try builder.date(date)
        case let data as Data: return try builder.data(data)
        case let uid as PropertyListUID:
            return try builder.append(Node(.uid, offset: 0, payload: UInt64(uid.value)))
        case is NSNull: return try builder.append(Node(.null, offset: 0))
        case let members as NSDictionary: return try append(members, depth: depth)
        case let members as NSArray: return try append(members, depth: depth)
        case let members as NSSet: return try append(members, .set, depth: depth)
        default:
            throw PropertyListError(.notRepresentable, "property lists have no objects of type \(type)")
        }
    }

    private mutating func bool(_ value: Bool) throws(PropertyListError) -> Int {
        try builder.append(Node(.bool, offset: 0, payload: value ? 1 : 0))
    }

    private mutating func append(_ number: NSNumber) throws(PropertyListError) -> Int {
        if Self.isBoolean(number) { return try bool(number.boolValue) }
        switch UInt8(bitPattern: number.objCType[0]) {
        case UInt8(ascii: "d"):
            return try builder.append(Node(.real, offset: 0, payload: number.doubleValue.bitPattern))
        case UInt8(ascii: "f"):
            return try builder.append(Node(.float, offset: 0, payload: UInt64(number.floatValue.bitPattern)))
        case UInt8(ascii: "Q"), UInt8(ascii: "L"):
            let value = number.uint64Value
            return try builder.append(Node(value >> 63 == 0 ? .integer : .unsigned, offset: 0, payload: value))
        default:
            return try builder.append(Node(.integer, offset: 0, payload: UInt64(bitPattern: number.int64Value)))
        }
    }

    /// Whether a number was made from a `Bool`.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(Darwin)
            return CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
            // Both Booleans are single objects.
            return number.objCType[0] == 0x63 && number === NSNumber(value: number.boolValue)
        #endif
    }

    private mutating func append(
        _ members: some Sequence,
        _ kind: Node.Kind = .array,
        depth: Int
    ) throws(PropertyListError) -> Int {
        try PropertyListLimits.check(depth: depth)
        let container = try builder.append(Node(kind, offset: 0))
        var last: Int?
        var count = 0
        for value in members {
            let member = try append(value, depth: depth + 1)
            builder.link(member, to: container, after: last)
            last = member
            count += 1
        }
        builder.setCount(count, of: container)
        return container
    }

    private mutating func append(_ members: some DictionaryOfMembers, depth: Int) throws(PropertyListError) -> Int {
        try PropertyListLimits.check(depth: depth)
        let container = try builder.append(Node(.dictionary, offset: 0, count: members.count))
        var last: Int?
        for (name, value) in members {
            last = try append(name, value, to: container, after: last, depth: depth)
        }
        return container
    }

    private mutating func append(_ members: NSDictionary, depth: Int) throws(PropertyListError) -> Int {
        try PropertyListLimits.check(depth: depth)
        let container = try builder.append(Node(.dictionary, offset: 0, count: members.count))
        var last: Int?
        for (name, value) in members {
            guard let name = name as? String else {
                throw PropertyListError(
                    .notRepresentable,
                    "keys of property lists are strings, not \(Swift.type(of: name))"
                )
            }
            last = try append(name, value, to: container, after: last, depth: depth)
        }
        return container
    }

    /// Adds a pair to a dictionary, and returns its value's index.
    @inline(__always)
    private mutating func append(
        _ name: String,
        _ value: Any,
        to container: Int,
        after last: Int?,
        depth: Int
    ) throws(PropertyListError) -> Int {
        let key = try builder.string(name)
        builder.link(key, to: container, after: last)
        let member = try append(value, depth: depth + 1)
        builder.link(member, to: container, after: key)
        return member
    }
}

/// An array of Swift.
private protocol ListOfMembers: Collection {}
extension Array: ListOfMembers {}

/// A dictionary of Swift whose keys are strings.
private protocol DictionaryOfMembers: Collection where Element == (key: String, value: Value) {
    associatedtype Value
}
extension Dictionary: DictionaryOfMembers where Key == String {}
