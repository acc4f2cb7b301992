import Foundation
import KeyedArchive

// Foundation's classes: the version that is read, and the way in which it is read.

extension SequentialUnarchiver {
    struct Intrinsic: Sendable {
        var version = 0
        let read: @Sendable (SequentialUnarchiver, Int) throws(ArchiveError) -> Any
    }

    static let intrinsics: [String: Intrinsic] = [
        "NSString": Intrinsic(version: 1) { coder, _ throws(ArchiveError) in try coder.string() },
        "NSMutableString": Intrinsic(version: 1) { coder, _ throws(ArchiveError) in
            NSMutableString(string: try coder.string())
        },
        "NSValue": Intrinsic { coder, _ throws(ArchiveError) in try coder.number() },
        "NSNumber": Intrinsic { coder, _ throws(ArchiveError) in try coder.number() },
        "NSData": Intrinsic { coder, _ throws(ArchiveError) in try coder.nextData() },
        "NSMutableData": Intrinsic { coder, _ throws(ArchiveError) in NSMutableData(data: try coder.nextData()) },
        "NSDate": Intrinsic { coder, _ throws(ArchiveError) in
            Date(timeIntervalSinceReferenceDate: try coder.nextDouble())
        },
        "NSNull": Intrinsic { _, _ in NSNull() },
        "NSURL": Intrinsic { coder, _ throws(ArchiveError) in try coder.url() },
        "NSArray": Intrinsic { coder, _ throws(ArchiveError) in
            var members: [Any] = []
            try coder.forEachMember { members.append($0) }
            return members
        },
        "NSMutableArray": Intrinsic { coder, number throws(ArchiveError) in
            let array = NSMutableArray()
            try coder.filling(array, number: number) { coder throws(ArchiveError) in
                try coder.forEachMember { array.add($0) }
            }
            return array
        },
        "NSSet": Intrinsic { coder, _ throws(ArchiveError) in
            var members: Set<AnyHashable> = []
            try coder.forEachHashedMember { members.insert($0) }
            return members
        },
        "NSMutableSet": Intrinsic { coder, number throws(ArchiveError) in
            let set = NSMutableSet()
            try coder.filling(set, number: number) { coder throws(ArchiveError) in
                try coder.forEachHashedMember { set.add($0.base) }
            }
            return set
        },
        "NSDictionary": Intrinsic { coder, _ throws(ArchiveError) in
            var entries: [AnyHashable: Any] = [:]
            try coder.forEachEntry { entries[$0] = $1 }
            return entries
        },
        "NSMutableDictionary": Intrinsic { coder, number throws(ArchiveError) in
            let dictionary = NSMutableDictionary()
            try coder.filling(dictionary, number: number) { coder throws(ArchiveError) in
                try coder.forEachEntry { dictionary[$0] = $1 }
            }
            return dictionary
        },
        "NSAttributedString": Intrinsic { coder, _ throws(ArchiveError) in
            NSAttributedString(attributedString: try coder.attributedString())
        },
        "NSMutableAttributedString": Intrinsic { coder, _ throws(ArchiveError) in try coder.attributedString() },
    ]

    // MARK: Values

    private func string() throws(ArchiveError) -> String {
        let start = reader.position
        guard let text = try nextText() else {
            throw reader.corrupted("a string that is not in UTF-8", at: start)
        }
        return text
    }

    private func number() throws(ArchiveError) -> NSValue {
        let start = reader.position
        guard let named = try nextCString(), case let asked = try ValueType.one(named),
            case let stored = try nextType(),
            stored == asked
        else { throw reader.corrupted("a number that is not of the type it names", at: start) }
        switch stored {
        case .float: return NSNumber(value: Float(try real(.float)))
        case .double: return NSNumber(value: try real(.double))
        case .integer(let type):
            switch (type, try reader.integer(type)) {
            case (_, .unsigned(let value)): return NSNumber(value: value)
            case (.int8, .signed(let value)), (.bool, .signed(let value)):
                // Booleans have the type of characters.
                return value == 0 || value == 1
                    ? NSNumber(value: value == 1) : NSNumber(value: Int8(truncatingIfNeeded: value))
            case (.uint8, .signed(let value)): return NSNumber(value: UInt8(truncatingIfNeeded: value))
            case (.int16, .signed(let value)): return NSNumber(value: Int16(truncatingIfNeeded: value))
            case (.uint16, .signed(let value)): return NSNumber(value: UInt16(truncatingIfNeeded: value))
            case (.int32, .signed(let value)), (.long, .signed(let value)):
                return NSNumber(value: Int32(truncatingIfNeeded: value))
            case (.uint32, .signed(let value)), (.unsignedLong, .signed(let value)):
                return NSNumber(value: UInt32(truncatingIfNeeded: value))
            case (.uint64, .signed(let value)): return NSNumber(value: UInt64(truncatingIfNeeded: value))
            case (.int64, .signed(let value)): return NSNumber(value: value)
            }
        case .structure(let name, let fields): return try specialValue(name, fields, at: start).value
        default: throw unknownValue(at: start)
        }
    }

    private func url() throws(ArchiveError) -> URL {
        let start = reader.position
        let base = try nextInteger() == 0 ? nil : try nextObject()
        guard let text = try nextObject() as? String else {
            throw reader.corrupted("a URL without a text", at: start)
        }
        // Many objects may share the text.
        try reader.spend(text.utf8.count)
        if base != nil, !(base is URL) { throw reader.corrupted("a URL with an invalid base", at: start) }
        guard let url = URL(string: text, relativeTo: base as? URL) else {
            throw ArchiveError(.decodingFailed, "a URL that Foundation does not take", offset: start)
        }
        return url
    }

    // MARK: Collections

    /// Reads the members of a mutable collection, which may hold itself.
    private func filling(
        _ collection: AnyObject,
        number: Int,
        _ body: (SequentialUnarchiver) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        openCollections[number] = collection
        defer { openCollections[number] = nil }
        try body(self)
    }

    private func member() throws(ArchiveError) -> Any {
        let start = reader.position
        guard let member = try nextObject() else { throw reader.corrupted("nil in a collection", at: start) }
        return member
    }

    private func forEachMember(_ body: (Any) -> Void) throws(ArchiveError) {
        var total = 1
        for _ in 0..<(try nextCount()) {
            body(try member())
            total += held
            try hold(total)
        }
        held = total
    }

    private func hashable(_ object: Any, at offset: Int) throws(ArchiveError) -> AnyHashable {
        // The commonest one first.
        if let text = exactly(object, String.self) { return text }
        // Comparing collections that share parts can take for ever, and an archive chooses the collections to compare.
        guard !FoundationClasses.isCollection(type(of: object)), let key = object as? AnyHashable else {
            throw ArchiveError(
                .unsupportedType,
                "a collection, or the like, as a set's member or a dictionary's key",
                offset: offset
            )
        }
        return key
    }

    private func admit(
        _ object: Any,
        at offset: Int,
        to crowd: inout HashCrowd
    ) throws(ArchiveError) -> AnyHashable {
        try crowd.admit(hashable(object, at: offset)) { count throws(ArchiveError) in try reader.spend(count) }
    }

    private func forEachHashedMember(_ body: (AnyHashable) -> Void) throws(ArchiveError) {
        let start = reader.position
        var members: [Any] = []
        try forEachMember { members.append($0) }
        let total = held
        var crowd = HashCrowd(memberCount: members.count)
        for object in members { body(try admit(object, at: start, to: &crowd)) }
        held = total
    }

    private func forEachEntry(_ body: (AnyHashable, Any) -> Void) throws(ArchiveError) {
        let count = try nextCount()
        var total = 1
        var crowd = HashCrowd(memberCount: count)
        for _ in 0..<count {
            let start = reader.position
            let key = try admit(member(), at: start, to: &crowd)
            body(key, try member())
            total += held + 1
            try hold(total)
        }
        held = total
    }

    private func attributedString() throws(ArchiveError) -> NSMutableAttributedString {
        let start = reader.position
        guard let text = try nextObject() as? String else {
            throw reader.corrupted("attributes without a text", at: start)
        }
        // Many objects may share the text.
        try reader.spend(text.utf8.count)
        let string = NSMutableAttributedString(string: text)
        var table: [(attributes: [NSAttributedString.Key: Any], weight: Int)] = []
        var total = 1
        var position = 0
        while position < string.length {
            let index = try nextInteger()
            let length = try nextInteger()
            guard index >= 1, index <= table.count + 1, length > 0, length <= string.length - position else {
                throw reader.corrupted("a run of attributes that is not inside its text")
            }
            if index == table.count + 1 {
                table.append(try attributes())
                total += held + 1
                try hold(total)
            }
            let run = table[Int(index) - 1]
            // Foundation compares the attributes of neighbours, to join the runs.
            try reader.spend(run.weight)
            string.setAttributes(run.attributes, range: NSRange(location: position, length: Int(length)))
            position += Int(length)
        }
        held = total
        return string
    }

    /// The attributes of a run, and their weight. Every run may name a new dictionary, or refer to an earlier one.
    private func attributes() throws(ArchiveError) -> (attributes: [NSAttributedString.Key: Any], weight: Int) {
        guard let entries = try nextObject() as? [String: Any] else {
            throw reader.corrupted("attributes that are not a dictionary with names as keys")
        }
        let weight = try AttributeWeight.weight(of: entries) { count throws(ArchiveError) in
            try reader.spend(count)
        }
        let attributes = entries.map { (NSAttributedString.Key($0.key), $0.value) }
        return (Dictionary(uniqueKeysWithValues: attributes), weight)
    }
}
