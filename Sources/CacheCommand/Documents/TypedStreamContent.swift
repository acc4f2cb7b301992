import Foundation
import KeyedArchive
import SequentialArchive

/// The content of a typed stream as a property list.
///
/// Strings, numbers, data, dates, URLs, arrays, sets and dictionaries with strings as keys are values of their own; sets
/// become arrays. Any other object is a dictionary:
///
///     $class   the name of its class
///     $object  its number in the archive
///     $values  what it encoded, in order
///
/// An object that was met before, or that is inside of itself, has `$object` alone.
struct TypedStreamContent {
    private typealias Value = PropertyListContent

    private let stream: TypedStream
    /// The value for nil.
    private let nilValue: PropertyListContent
    private var nesting = NestingLimit(levels: 2 * NestingLimit.levels)
    /// Objects other than values that were shown.
    private var shown: Set<Int> = []
    /// Collections that are being shown.
    private var open: Set<Int> = []
    /// Collections that may be shown more than once: a small archive may hold one as often as it likes.
    private var repeats: Int
    private var repeated: Set<Int> = []

    init(_ stream: TypedStream, nilValue: PropertyListContent) {
        self.stream = stream
        self.nilValue = nilValue
        repeats = 10_000 + stream.objects.count
    }

    /// The root's value, or a list of the values of the outermost level if there are more.
    ///
    /// - Throws: `.limitExceeded` if objects nest deeper than the stack allows.
    mutating func value() throws(ArchiveError) -> PropertyListContent {
        let values = stream.groups.flatMap(\.values)
        if values.count == 1 { return try value(values[0]) }
        return .array(try list(values))
    }

    private mutating func list(_ values: [TypedStream.Value]) throws(ArchiveError) -> [Value] {
        var list: [Value] = []
        for value in values { list.append(try self.value(value)) }
        return list
    }

    private mutating func value(_ value: TypedStream.Value) throws(ArchiveError) -> Value {
        switch value {
        case .array(let values), .structure(let values): return .array(try list(values))
        case .reference(let place?):
            switch stream.object(place) {
            case .classDescription(let description)?: return .string(description.name)
            case .cString(let bytes)?: return Value(textOrData: bytes)
            case .instance(let instance)?: return try object(instance, at: place, of: value)
            case nil: return nilValue
            }
        default:
            let plain = Value(plain: value)
            if case .null = plain { return nilValue }
            return plain
        }
    }

    private mutating func object(
        _ instance: TypedStream.Instance,
        at place: Int,
        of reference: TypedStream.Value
    ) throws(ArchiveError) -> Value {
        let name = stream.classDescription(of: reference)?.name ?? "?"
        if let scalar = scalar(instance, name, of: reference) { return scalar }
        try nesting.enter()
        defer { nesting.leave() }
        if let parts = collection(instance, name) {
            if !repeated.insert(place).inserted { repeats -= 1 }
            guard repeats > 0, open.insert(place).inserted else { return seen(place) }
            defer { open.remove(place) }
            guard name.hasSuffix("Dictionary") else { return .array(try list(parts)) }
            var fields: [Value.Field] = []
            for index in stride(from: 0, to: parts.count, by: 2) {
                fields.append(Value.Field(key: stream.text(parts[index]) ?? "", value: try value(parts[index + 1])))
            }
            return .dictionary(fields)
        }
        guard shown.insert(place).inserted else { return seen(place) }
        return .dictionary([
            Value.Field(key: "$class", value: .string(name)),
            Value.Field(key: "$object", value: .integer(Int64(place))),
            Value.Field(key: "$values", value: .array(try list(instance.groups.flatMap(\.values)))),
        ])
    }

    private func seen(_ place: Int) -> Value {
        .dictionary([Value.Field(key: "$object", value: .integer(Int64(place)))])
    }

    /// The value of an object of Foundation's that has no parts; `nil` for all else.
    private func scalar(
        _ instance: TypedStream.Instance,
        _ name: String,
        of reference: TypedStream.Value
    ) -> Value? {
        let values = instance.groups.flatMap(\.values)
        switch (name, values.count) {
        case ("NSString", _), ("NSMutableString", _): return stream.text(reference).map { .string($0) }
        case ("NSNumber", 2):
            let type = stream.text(values[0])
            if type == "c" || type == "B", values[1] == .integer(0) || values[1] == .integer(1) {
                return .bool(values[1] == .integer(1))
            }
            if type == "d" || type == "f", case .integer(let number) = values[1] { return .real(Double(number)) }
            return Value(number: values[1])
        case ("NSDate", 1):
            return Value(number: values[0])?.seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case ("NSData", 2), ("NSMutableData", 2):
            if case .bytes(let data?) = values[1] { return .data(data) }
            return nil
        case ("NSNull", 0): return nilValue
        case ("NSURL", 2): return stream.text(values[1]).map { .string($0) }
        case ("NSURL", 3):
            guard let base = stream.instance(values[1]), base.groups.count == 2,
                let above = stream.text(base.groups[1].values[0]).flatMap({ URL(string: $0) }),
                let text = stream.text(values[2]), let url = URL(string: text, relativeTo: above)
            else { return nil }
            return .string(url.absoluteString)
        default: return nil
        }
    }

    /// The members of a collection, or the keys and values of a dictionary with strings as keys; `nil` for all else.
    private func collection(_ instance: TypedStream.Instance, _ name: String) -> [TypedStream.Value]? {
        let values = instance.groups.flatMap(\.values)
        guard case .integer(let count)? = values.first else { return nil }
        let members = Array(values.dropFirst())
        switch name {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
            return members.count == Int(clamping: count) ? members : nil
        case "NSDictionary", "NSMutableDictionary":
            guard members.count % 2 == 0, members.count / 2 == Int(clamping: count) else { return nil }
            let keys = stride(from: 0, to: members.count, by: 2).map { stream.text(members[$0]) }
            guard keys.allSatisfy({ $0 != nil }), Set(keys).count == keys.count else { return nil }
            return members
        default: return nil
        }
    }
}
