import Foundation

/// A Foundation class that the unarchiver builds itself, from the form in which Apple's archiver stores it.
enum UnarchivedIntrinsic {
    case null, string, mutableString, mutableData, date, url, uuid
    case array, mutableArray, set, mutableSet, dictionary, mutableDictionary
    /// One of the less common ones.
    case form(FoundationForm)

    static let named = common.merging(FoundationForm.all.map { ($0.className, .form($0)) }) { first, _ in first }

    private static let common: [String: UnarchivedIntrinsic] = [
        "NSNull": .null,
        "NSString": .string,
        "NSMutableString": .mutableString,
        "NSData": .mutableData,
        "NSMutableData": .mutableData,
        "NSDate": .date,
        "NSURL": .url,
        "NSUUID": .uuid,
        "NSArray": .array,
        "NSMutableArray": .mutableArray,
        "NSSet": .set,
        "NSMutableSet": .mutableSet,
        "NSDictionary": .dictionary,
        "NSMutableDictionary": .mutableDictionary,
    ]
}

extension KeyedUnarchiver {
    func decode(
        _ intrinsic: UnarchivedIntrinsic,
        _ fields: BinaryPropertyList.Fields,
        _ uid: UInt32
    ) throws(ArchiveError) -> Any? {
        var scope = ArchiveScope(fields)
        switch intrinsic {
        case .null: return NSNull()
        case .string: return try required(String.self, "NS.string", &scope)
        case .mutableString: return NSMutableString(string: try required(String.self, "NS.string", &scope))
        case .mutableData: return NSMutableData(data: try required(Data.self, "NS.data", &scope))
        case .date:
            guard let value = try scope.value(of: "NS.time", in: source.list),
                let seconds = try number(at: value)?.double
            else { throw malformed("NSDate", scope) }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case .url:
            let relative = try required(String.self, "NS.relative", &scope)
            let base = try optional("NS.base", &scope) as? URL
            guard let url = URL(string: relative, relativeTo: base) else { throw malformed("NSURL", scope) }
            return url
        case .uuid:
            let data = try required(Data.self, "NS.uuidbytes", &scope)
            guard data.count == 16 else { throw malformed("NSUUID", scope) }
            return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case .array:
            return try decoded(members(of: &scope, "NSArray"))
        // Mutable collections are made before their members, since parts of the members may refer to them.
        case .mutableArray:
            let array = NSMutableArray()
            cycles.open(array, uid)
            defer { cycles.closeCollection() }
            for member in try members(of: &scope, "NSMutableArray") { array.add(try self.member(member)) }
            return array
        case .set:
            var set = Set<AnyHashable>()
            try forEachMember(of: &scope, "NSSet") { set.insert($0) }
            return set
        case .mutableSet:
            let set = NSMutableSet()
            cycles.open(set, uid)
            defer { cycles.closeCollection() }
            try forEachMember(of: &scope, "NSMutableSet") { set.add($0.base) }
            return set
        case .dictionary:
            var dictionary: [AnyHashable: Any] = [:]
            try forEachEntry(of: &scope) { key, value in dictionary[key] = value }
            return dictionary
        case .mutableDictionary:
            let dictionary = NSMutableDictionary()
            cycles.open(dictionary, uid)
            defer { cycles.closeCollection() }
            var entries: [AnyHashable: Any] = [:]
            try forEachEntry(of: &scope) { key, value in entries[key] = value }
            dictionary.addEntries(from: entries)
            return dictionary
        case .form(let form):
            let outer = expected.intrinsicsToo
            if !form.isCollection { expected.intrinsicsToo = true }
            defer { expected.intrinsicsToo = outer }
            var fields = FormFields(self, form.className, uid, fields)
            return try form.read(&fields)
        }
    }

    private func optional(_ key: String, _ scope: inout ArchiveScope) throws(ArchiveError) -> Any? {
        guard let value = try scope.value(of: key, in: source.list) else { return nil }
        return try object(at: value)
    }

    private func required<T>(
        _ type: T.Type,
        _ key: String,
        _ scope: inout ArchiveScope
    ) throws(ArchiveError) -> T {
        guard let value = try optional(key, &scope) as? T else { throw malformed("a Foundation object", scope) }
        return value
    }

    private func malformed(_ name: String, _ scope: ArchiveScope) -> ArchiveError {
        ArchiveError(.corrupted, "\(name) without a value that it needs", offset: scope.fields.start)
    }

    // MARK: Collections

    /// The references to a collection's members: in `NS.objects`, or in `NS.object.0`, `NS.object.1`, …, as
    /// some writers have it.
    func members(
        of scope: inout ArchiveScope,
        _ name: String,
        under key: String = "NS.objects",
        indexed: String = "NS.object."
    ) throws(ArchiveError) -> [BinaryPropertyList.Reference] {
        var members: [BinaryPropertyList.Reference] = []
        if let value = try scope.value(of: key, in: source.list) {
            guard case .array(let run) = try source.list.object(value) else { throw malformed(name, scope) }
            try spend(run.count)
            members.reserveCapacity(run.count)
            for index in 0..<run.count { members.append(source.list.element(run, index)) }
        } else {
            while let value = try scope.value(of: "\(indexed)\(members.count)", in: source.list) {
                try spend(1)
                members.append(value)
            }
        }
        return members
    }

    private func decoded(_ members: [BinaryPropertyList.Reference]) throws(ArchiveError) -> [Any] {
        var objects: [Any] = []
        objects.reserveCapacity(members.count)
        for member in members { objects.append(try self.member(member)) }
        return objects
    }

    private func member(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any {
        let object = try expected.intrinsicsToo ? object(at: reference) : expectedObject(at: reference)
        heldSize &+= 1
        try checkHeldSize()
        if let object { return object }
        // A failure inside was recorded, or an object's `init(coder:)` refused: no collection with a hole in it.
        if let error = error as? ArchiveError { throw error }
        throw refusal(of: "a member of a collection", reference)
    }

    func hashable(_ object: Any, _ scope: ArchiveScope) throws(ArchiveError) -> AnyHashable {
        // Comparing collections that share parts can take for ever, and an archive chooses the collections to compare.
        guard !ArchiveHandler.for(type(of: object)).isCollection, let key = object as? AnyHashable else {
            throw ArchiveError(
                .typeMismatch,
                "\(ClassNames.name(of: type(of: object))) as a key or set member: it is a collection, or has no hash",
                offset: scope.fields.start
            )
        }
        return key
    }

    func forEachMember(
        of scope: inout ArchiveScope,
        _ name: String,
        _ body: (AnyHashable) -> Void
    ) throws(ArchiveError) {
        let objects = try decoded(members(of: &scope, name))
        var crowd = HashCrowd(memberCount: objects.count)
        for object in objects {
            let member = try hashable(object, scope)
            try crowd.admit(member)
            body(member)
        }
    }

    private func forEachEntry(
        of scope: inout ArchiveScope,
        _ body: (AnyHashable, Any) -> Void
    ) throws(ArchiveError) {
        let keys = try members(of: &scope, "NSDictionary", under: "NS.keys", indexed: "NS.key.")
        let values = try members(of: &scope, "NSDictionary")
        guard keys.count == values.count else {
            throw ArchiveError(
                .corrupted,
                "dictionary with \(keys.count) keys and \(values.count) values",
                offset: scope.fields.start
            )
        }
        var crowd = HashCrowd(memberCount: keys.count)
        for (key, value) in zip(keys, values) {
            let key = try hashable(member(key), scope)
            try crowd.admit(key)
            body(key, try member(value))
        }
    }
}
