import Foundation

/// A Foundation class that the unarchiver builds itself, from the form in which Apple's archiver stores it.
enum UnarchivedIntrinsic {
    case null, string, mutableString, mutableData, date, url, uuid
    case array, mutableArray, set, mutableSet, dictionary, mutableDictionary
    /// One of the less common ones.
    case form(FoundationForm)

    /// The built-in kind of a class, by its name; `nil` for a class that is not built in.
    static func named(_ name: String) -> UnarchivedIntrinsic? {
        var name = name
        let common = name.withUTF8 { UnarchivedIntrinsic(commonlyNamed: $0) }
        return common ?? FoundationForm.named[name].map { .form($0) }
    }

    /// The names of all built-in classes.
    static var names: [String] {
        let common = [
            "NSNull", "NSString", "NSMutableString", "NSData", "NSMutableData", "NSDate", "NSURL", "NSUUID",
            "NSArray",
            "NSMutableArray", "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary",
        ]
        return common + FoundationForm.named.keys
    }

    /// Whether a name may be one of these, by its beginning: a string need not be made of most other names.
    static func mayBeNamed(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count >= 2 else { return true }
        // `NS`, or `_`.
        return name[0] == 0x4E && name[1] == 0x53 || name[0] == 0x5F
    }

    /// The kind of one of the classes that most archives have, by the bytes of its name: without a string, a hash, or the
    /// table of all forms.
    init?(commonlyNamed name: UnsafeBufferPointer<UInt8>) {
        @inline(__always) func isNamed(_ text: StaticString) -> Bool {
            // A static string's bytes stay where they are as long as the process lives.
            haveSameBytes(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), name)
        }
        switch name.count {
        case 5 where isNamed("NSURL"): self = .url
        case 5 where isNamed("NSSet"): self = .set
        case 6 where isNamed("NSDate"): self = .date
        case 6 where isNamed("NSUUID"): self = .uuid
        case 6 where isNamed("NSNull"): self = .null
        case 6 where isNamed("NSData"): self = .mutableData
        case 7 where isNamed("NSArray"): self = .array
        case 8 where isNamed("NSString"): self = .string
        case 12 where isNamed("NSDictionary"): self = .dictionary
        case 12 where isNamed("NSMutableSet"): self = .mutableSet
        case 13 where isNamed("NSMutableData"): self = .mutableData
        case 14 where isNamed("NSMutableArray"): self = .mutableArray
        case 15 where isNamed("NSMutableString"): self = .mutableString
        case 19 where isNamed("NSMutableDictionary"): self = .mutableDictionary
        default: return nil
        }
    }

    /// The class's name, for errors.
    var className: String {
        switch self {
        case .null: "NSNull"
        case .string: "NSString"
        case .mutableString: "NSMutableString"
        case .mutableData: "NSMutableData"
        case .date: "NSDate"
        case .url: "NSURL"
        case .uuid: "NSUUID"
        case .array: "NSArray"
        case .mutableArray: "NSMutableArray"
        case .set: "NSSet"
        case .mutableSet: "NSMutableSet"
        case .dictionary, .mutableDictionary: "NSDictionary"
        case .form(let form): form.className
        }
    }

    // MARK: Reading

    /// Reads an object of the class.
    func read(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        switch self {
        case .null: return NSNull()
        case .string: return try required(String.self, "NS.string", in: &fields)
        case .mutableString:
            return NSMutableString(string: try fields.counted(required(String.self, "NS.string", in: &fields)))
        case .mutableData:
            return NSMutableData(data: try fields.counted(required(Data.self, "NS.data", in: &fields)))
        case .date:
            guard let value = try fields.unarchiver.value(of: "NS.time", in: &fields.scope),
                let seconds = try fields.unarchiver.number(at: value)?.double
            else { throw fields.malformed() }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case .url:
            let relative = try fields.counted(required(String.self, "NS.relative", in: &fields))
            let base = try optional("NS.base", in: &fields) as? URL
            guard let url = URL(string: relative, relativeTo: base) else { throw fields.malformed() }
            return url
        case .uuid:
            let data = try required(Data.self, "NS.uuidbytes", in: &fields)
            guard data.count == 16 else { throw fields.malformed() }
            return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case .array: return try fields.members()
        // Mutable collections are made before their members, since parts of the members may refer to them.
        case .mutableArray:
            let array = NSMutableArray()
            fields.unarchiver.cycles.open(array, fields.uid)
            defer { fields.unarchiver.cycles.closeCollection() }
            try fields.forEachMember { array.add($0) }
            return array
        case .set:
            var set = Set<AnyHashable>()
            try fields.forEachHashedMember { set.insert($0) }
            return set
        case .mutableSet:
            let set = NSMutableSet()
            fields.unarchiver.cycles.open(set, fields.uid)
            defer { fields.unarchiver.cycles.closeCollection() }
            try fields.forEachHashedMember { set.add($0.base) }
            return set
        case .dictionary:
            var dictionary: [AnyHashable: Any] = [:]
            try fields.forEachEntry { key, value in dictionary[key] = value }
            return dictionary
        case .mutableDictionary:
            let dictionary = NSMutableDictionary()
            fields.unarchiver.cycles.open(dictionary, fields.uid)
            defer { fields.unarchiver.cycles.closeCollection() }
            var entries: [AnyHashable: Any] = [:]
            try fields.forEachEntry { key, value in entries[key] = value }
            dictionary.addEntries(from: entries)
            return dictionary
        case .form(let form):
            let outer = fields.unarchiver.frame.allowsFoundationValues
            if !form.isCollection { fields.unarchiver.frame.allowsFoundationValues = true }
            defer { fields.unarchiver.frame.allowsFoundationValues = outer }
            return try form.read(&fields)
        }
    }

    private func optional(_ key: String, in fields: inout FormFields) throws(ArchiveError) -> Any? {
        guard let value = try fields.unarchiver.value(of: key, in: &fields.scope) else { return nil }
        return try fields.unarchiver.object(at: value)
    }

    private func required<T>(
        _ type: T.Type,
        _ key: String,
        in fields: inout FormFields
    ) throws(ArchiveError) -> T {
        guard let value = try optional(key, in: &fields) as? T else {
            throw ArchiveError(
                .corrupted,
                "a Foundation object without a value that it needs",
                offset: fields.scope.fields.start
            )
        }
        return value
    }
}
