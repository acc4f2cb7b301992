import Foundation

extension ArchiveTree {
    /// The object in a place, or `nil` if there is no such place.
    public func object(_ place: Int) -> Object? { objects.indices.contains(place) ? objects[place] : nil }

    /// The instance that a value refers to; `nil` if it does not refer to an instance.
    public func instance(_ value: Value) -> Instance? {
        guard case .reference(let place) = value, case .instance(let instance)? = object(place) else { return nil }
        return instance
    }

    /// An instance's class; `nil` only in a tree that was made by hand and does not hold together.
    public func classDescription(of instance: Instance) -> ClassDescription? {
        guard case .classDescription(let description)? = object(instance.classPlace) else { return nil }
        return description
    }

    /// The class name of the instance that a value refers to; `nil` if it does not refer to an instance.
    public func className(of value: Value) -> String? {
        instance(value).flatMap { classDescription(of: $0)?.name }
    }

    // MARK: Foundation's classes

    /// The scalar that a value stands for: strings, numbers, data and dates, inline or by reference; the content of
    /// Foundation's string, data and date objects; the text of UUIDs and of URLs without a base; null for nil and
    /// `NSNull`. `nil` for any other value.
    public func scalar(_ value: Value) -> Value? {
        switch stored(value) {
        case .array, .set, .dictionary: return nil
        case .reference(let place):
            switch object(place) {
            case .empty?: return .null
            case .instance(let instance)?: return scalar(instance)
            default: return nil
            }
        case let scalar: return scalar
        }
    }

    /// The value that a reference leads to, if the object there is stored as a value; otherwise the value itself.
    private func stored(_ value: Value) -> Value {
        guard case .reference(let place) = value, case .value(let stored)? = object(place) else { return value }
        // One step only: objects that are references to objects could run in circles.
        if case .reference = stored { return value }
        return stored
    }

    private func scalar(_ instance: Instance) -> Value? {
        switch classDescription(of: instance)?.name {
        case "NSNull": return .null
        case "NSString", "NSMutableString":
            guard case .string(let text)? = part("NS.string", of: instance) else { return nil }
            return .string(text)
        case "NSData", "NSMutableData":
            guard case .data(let data)? = part("NS.data", of: instance) else { return nil }
            return .data(data)
        case "NSDate":
            switch part("NS.time", of: instance) {
            case .real(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let seconds)?: return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
            default: return nil
            }
        case "NSUUID":
            guard case .data(let data)? = part("NS.uuidbytes", of: instance), data.count == 16 else { return nil }
            let uuid = data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            return .string(uuid.uuidString)
        case "NSURL":
            guard base(of: instance) == nil, case .string(let text)? = part("NS.relative", of: instance) else {
                return nil
            }
            return .string(text)
        default: return nil
        }
    }

    /// The base of a URL; `nil` if it has none.
    private func base(of url: Instance) -> Value? {
        guard let value = url["NS.base"], value != .null else { return nil }
        if case .reference(let place) = value, case .empty? = object(place) { return nil }
        return value
    }

    /// A part of a scalar, which may be inline, by reference, or in an object of a class for strings or data.
    private func part(_ name: String, of instance: Instance) -> Value? {
        guard let value = instance[name] else { return nil }
        guard case .reference(let place) = value else { return value }
        switch object(place) {
        case .empty?: return .null
        case .value(let value)?: return value
        case .instance(let inner)?:
            // One step only: strings and data with classes of their own hold theirs inline.
            switch classDescription(of: inner)?.name {
            case "NSString", "NSMutableString": return inner["NS.string"]
            case "NSData", "NSMutableData": return inner["NS.data"]
            default: return nil
            }
        case .classDescription?, nil: return nil
        }
    }

    /// The absolute text of a URL with a base, which may have a base itself; `nil` for all else, and for more than 100
    /// bases.
    package func absoluteText(ofURL value: Value) -> String? {
        var chain: [String] = []
        var next: Value? = value
        while let url = next {
            guard chain.count <= 100, let instance = instance(url), className(of: url) == "NSURL",
                case .string(let text)? = part("NS.relative", of: instance)
            else { return nil }
            chain.append(text)
            next = base(of: instance)
        }
        var url: URL?
        for text in chain.reversed() { url = URL(string: text, relativeTo: url)?.absoluteURL }
        return chain.count > 1 ? url?.absoluteString : nil
    }

    /// The members of the array or set that a value is or refers to; `nil` for all else.
    public func members(_ value: Value) -> [Value]? {
        switch stored(value) {
        case .array(let members), .set(let members): return members
        default:
            guard let name = className(of: value), Self.lists.contains(name),
                case .array(let members)? = instance(value)?["NS.objects"]
            else { return nil }
            return members
        }
    }

    private static let lists = ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"]

    /// The entries of the dictionary that a value is or refers to, if its keys are strings or integers, sorted by
    /// their keys; `nil` for all else.
    public func entries(_ value: Value) -> [Field]? {
        if case .dictionary(let fields) = stored(value) { return fields }
        guard let instance = instance(value), let name = classDescription(of: instance)?.name,
            name == "NSDictionary" || name == "NSMutableDictionary",
            case .array(let keys)? = instance["NS.keys"], case .array(let values)? = instance["NS.objects"],
            keys.count == values.count
        else { return nil }
        var entries: [Field] = []
        for (key, value) in zip(keys, values) {
            switch scalar(key) {
            case .string(let text)?: entries.append(Field(key: text, value: value))
            case .integer(let number)?: entries.append(Field(key: String(number), value: value))
            default: return nil
            }
        }
        return entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    // MARK: Paths

    /// The values that a value holds: a collection's members under their numbers, a dictionary's values under their
    /// keys, an object's fields under their names; none for all else.
    public func children(of value: Value) -> [(name: String, value: Value)] {
        if let members = members(value) { return members.enumerated().map { (String($0.offset), $0.element) } }
        if let entries = entries(value) { return entries.map { ($0.key, $0.value) } }
        return instance(value)?.fields.map { ($0.name, $0.value) } ?? []
    }

    /// The value to which a path of names leads from the outermost scope, references followed; `nil` if it leads
    /// nowhere.
    ///
    /// A name is that of an object's field, a key of a dictionary, or the number of a member. The value that is
    /// found is given as the scalar that it stands for, if it stands for one: see ``scalar(_:)``.
    ///
    /// - Complexity: O(*n*) in the children along the path.
    public func value(at path: String...) -> Value? {
        var names = path[...]
        guard let root = names.popFirst(), var found = roots.first(where: { $0.name == root })?.value else {
            return nil
        }
        for name in names {
            guard let next = children(of: found).first(where: { $0.name == name }) else { return nil }
            found = next.value
        }
        return scalar(found) ?? found
    }
}
