import Foundation

/// A model that lists its content.
protocol Described: AnyObject {
    var described: [(String, Any?)] { get }
}

/// A decoded value as a text, which is equal for equal values only, so that the results of two readers can be compared.
/// It knows Foundation's classes and the models, and nothing of archives.
struct Description {
    /// How much is described; graphs that share their parts are far larger as texts than they are.
    private var budget: Int
    /// The models that are being described, each inside the one before.
    private var open: [ObjectIdentifier] = []
    private(set) var text = ""

    /// Describes a value; `nil` if that would take more than `budget` pieces.
    static func of(_ value: Any?, budget: Int = 20_000) -> String? {
        var description = Description(budget: budget)
        description.add(value)
        return description.budget < 0 ? nil : description.text
    }

    private init(budget: Int) { self.budget = budget }

    private mutating func add(_ value: Any?) {
        budget -= 1
        guard budget >= 0 else { return }
        // Values first, by their types: any cast of an array to a class would make objects of all that it holds.
        switch value.map({ type(of: $0) }) {
        case is [Any].Type: addMembers("array", value as? [Any] ?? [], isOrdered: true)
        case is Set<AnyHashable>.Type:
            addMembers("set", (value as? Set<AnyHashable> ?? []).map(\.base), isOrdered: false)
        case is [AnyHashable: Any].Type:
            let entries = value as? [AnyHashable: Any] ?? [:]
            addMembers("dictionary", entries.map { [$0.key.base, $0.value] }, isOrdered: false)
        default: addObject(value)
        }
    }

    private mutating func addObject(_ value: Any?) {
        switch value {
        case nil: text += "nil"
        case is NSNull: text += "null"
        case let string as NSMutableString: text += "mutable " + String(string).debugDescription
        case let string as String: text += string.debugDescription
        case let number as NSNumber: text += Self.describe(number)
        case let data as NSMutableData: text += "mutable data \(data.length) \(Self.hexadecimal(data as Data))"
        case let data as Data: text += "data \(data.count) \(Self.hexadecimal(data))"
        case let date as Date: text += "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
        case let uuid as UUID: text += uuid.uuidString
        case let url as URL: text += "url \(url.relativeString) of (\(url.baseURL?.absoluteString ?? ""))"
        case let model as any Described: add(model)
        default: addFoundationsCollection(value)
        }
    }

    private mutating func add(_ model: any Described) {
        if let level = open.firstIndex(of: ObjectIdentifier(model)) {
            text += "the one at level \(level)"
            return
        }
        // The stack ends some time too.
        if open.count > 200 { budget = -1 }
        open.append(ObjectIdentifier(model))
        defer { open.removeLast() }
        text += "\(type(of: model)){"
        for (key, value) in model.described {
            text += "\(key): "
            add(value)
            text += "; "
        }
        text += "}"
    }

    private mutating func addFoundationsCollection(_ value: Any?) {
        switch value {
        case let array as NSMutableArray: addMembers("mutable array", array.map(\.self), isOrdered: true)
        case let set as NSMutableSet: addMembers("mutable set", set.map(\.self), isOrdered: false)
        case let dictionary as NSMutableDictionary:
            addMembers("mutable dictionary", dictionary.map { [$0.key, $0.value] }, isOrdered: false)
        case let array as NSArray: addMembers("array", array.map(\.self), isOrdered: true)
        case let set as NSSet: addMembers("set", set.map(\.self), isOrdered: false)
        case let dictionary as NSDictionary:
            addMembers("dictionary", dictionary.map { [$0.key, $0.value] }, isOrdered: false)
        case let other?: text += "another: \(type(of: other))"
        case nil: text += "nil"
        }
    }

    private mutating func addMembers(_ name: String, _ members: [Any], isOrdered: Bool) {
        let outer = text
        var texts: [String] = []
        for member in members {
            text = ""
            add(member)
            texts.append(text)
            if budget < 0 { break }
        }
        if !isOrdered { texts.sort() }
        text = outer + "\(name) [" + texts.joined(separator: ", ") + "]"
    }

    /// By value, not by width: archives know no widths of integers.
    private static func describe(_ number: NSNumber) -> String {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"):
            number.doubleValue.isNaN ? "nan" : "real \(number.doubleValue.bitPattern)"
        case UInt8(ascii: "Q"): "integer \(number.uint64Value)"
        default: "integer \(number.int64Value)"
        }
    }

    private static func hexadecimal(_ data: Data) -> String {
        data.prefix(1_024).map { String($0, radix: 16) }.joined(separator: ".")
    }
}
