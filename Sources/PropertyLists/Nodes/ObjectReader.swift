import Foundation

/// Makes Foundation's objects from a table.
struct ObjectReader {
    /// Why the objects are not those of the table.
    private(set) var fault: PropertyListError?
    private let table: NodeTable
    private let hasMutableContainers: Bool
    private let hasMutableLeaves: Bool
    private var forms: DictionaryForms
    /// The containers around the object that is being made.
    private var depth = 0
    /// The comparisons of members that the list may still ask for.
    private var comparisons: Int

    init(_ table: NodeTable, _ options: PropertyListObjects.ReadOptions) {
        self.table = table
        comparisons = (1 << 16) + 64 * table.bytes.all.count
        forms = DictionaryForms(table)
        hasMutableLeaves = options.contains(.mutableContainersAndLeaves)
        hasMutableContainers = hasMutableLeaves || options.contains(.mutableContainers)
    }

    mutating func object(_ node: Node) -> Any {
        switch node.kind {
        case .null: return NSNull()
        case .bool: return node.payload != 0
        case .integer: return NSNumber(value: Int64(bitPattern: node.payload))
        case .unsigned: return NSNumber(value: node.payload)
        case .float: return NSNumber(value: node.float)
        case .real: return NSNumber(value: node.real)
        case .date: return Date(timeIntervalSinceReferenceDate: node.real)
        case .data:
            let data = table.data(node)
            return hasMutableLeaves ? NSMutableData(data: data) : data
        case .string:
            let text = table.text(node)
            return hasMutableLeaves ? NSMutableString(string: text) : text
        case .uid: return PropertyListUID(UInt32(truncatingIfNeeded: node.payload))
        case .array, .set, .dictionary: return container(node)
        }
    }

    /// A container; a value that is of no use once there is a fault.
    private mutating func container(_ node: Node) -> Any {
        do throws(PropertyListError) {
            if fault == nil { try PropertyListLimits.check(depth: depth, offset: Int(node.offset)) }
        } catch {
            fault = error
        }
        if fault != nil { return NSNull() }
        depth += 1
        defer { depth -= 1 }
        switch node.kind {
        case .set: return set(node)
        case .dictionary: return dictionary(node)
        default: return array(node)
        }
    }

    private mutating func array(_ node: Node) -> Any {
        if hasMutableContainers {
            let array = NSMutableArray(capacity: min(node.length, 1 << 16))
            forEachMember(node) { array.add($0) }
            return array
        }
        var array: [Any] = []
        array.reserveCapacity(node.length)
        forEachMember(node) { array.append($0) }
        return array
    }

    @inline(__always)
    private mutating func forEachMember(_ node: Node, _ body: (Any) -> Void) {
        var index = node.start
        while index != 0 {
            let member = table.nodes[index]
            body(object(member))
            index = Int(member.next)
        }
    }

    private mutating func set(_ node: Node) -> Any {
        var members: [Any] = []
        // Equal texts are one member. Foundation on Linux has different hashes for some, and its set ends the process then.
        var texts: Set<String> = []
        var crowd = HashCrowd(memberCount: node.length)
        var index = node.start
        while index != 0, fault == nil {
            let member = table.nodes[index]
            index = Int(member.next)
            // Comparing containers that share parts can take for ever.
            if member.isContainer { fault = refusal("a container as a set's member", member) }
            if member.kind == .string, !texts.insert(table.text(member)).inserted { continue }
            let object = object(member)
            if !crowd.admits(object as? NSObject, &comparisons) { fault = refusal(HashCrowd.message, member) }
            if fault == nil { members.append(object) }
        }
        // Not from a mutable set: to copy that, Foundation on Linux makes values of its members, byte by byte.
        return hasMutableContainers ? NSMutableSet(array: members) : NSSet(array: members)
    }

    private func refusal(_ message: String, _ node: Node) -> PropertyListError {
        PropertyListError(.limitExceeded, message, offset: Int(node.offset))
    }

    private mutating func dictionary(_ node: Node) -> Any {
        if hasMutableContainers { return mutableDictionary(node) }
        guard let form = forms.form(of: node) else { return formlessDictionary(node) }
        var dictionary = form.empty
        fill(&dictionary.values, of: form, from: node)
        return dictionary
    }

    private mutating func formlessDictionary(_ node: Node) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        dictionary.reserveCapacity(node.length)
        table.forEachKey(of: node) { key, value in
            let name = table.text(key)
            let old = dictionary.updateValue(object(value), forKey: name)
            if let old, !table.lastDuplicateCounts { dictionary[name] = old }
        }
        return dictionary
    }

    private mutating func fill(_ values: inout [String: Any].Values, of form: DictionaryForm, from node: Node) {
        table.forEachKey(of: node) { key, value in
            if let index = form.index(of: key) { values[form.places[index]] = object(value) }
        }
    }

    private mutating func mutableDictionary(_ node: Node) -> NSMutableDictionary {
        let dictionary = NSMutableDictionary(capacity: min(node.length, 1 << 16))
        var crowd = HashCrowd(memberCount: node.length)
        let form = forms.form(of: node)
        if form == nil, !table.hasASCIIKeys(node) {
            // Equal texts are one key, as in a set.
            for (name, value) in formlessDictionary(node) {
                insert(value, NSString(string: name), of: node)
            }
            return dictionary
        }
        table.forEachKey(of: node) { key, value in
            if fault != nil { return }
            if let form, let index = form.index(of: key) {
                return insert(object(value), form.keys[index], of: key)
            }
            let name = NSString(string: table.text(key))
            if table.lastDuplicateCounts || dictionary.object(forKey: name) == nil {
                insert(object(value), name, of: key)
            }
        }
        return dictionary

        func insert(_ value: Any, _ key: NSString, of node: Node) {
            if fault != nil { return }
            if crowd.admits(key, &comparisons) {
                dictionary.setObject(value, forKey: key)
            } else {
                fault = refusal(HashCrowd.message, node)
            }
        }
    }
}

/// Notices members that are made so that they share a hash: each insertion compares with all of them. Foundation hashes
/// data by its first bytes, and long strings by parts of themselves, and texts can be made for a hash; on Linux it takes
/// half a microsecond to compare texts, and more to compare data.
private struct HashCrowd {
    /// How many members may share a hash.
    private static let limit = 1_024
    /// As many members are compared with each other in the time that their references take; only data is counted then.
    private static let fewMembers = 64
    /// As many bytes take as long as the rest of a comparison.
    private static let bytesPerComparison = 1_024

    static let message = "too many members of a collection share a hash"

    /// As many comparisons of small collections, whose members may all have one hash, count as one.
    private static let smallComparisons = 32

    private let isCounting: Bool
    private var memberCount = 0
    private var counts: [Int: Int] = [:]

    init(memberCount: Int) { isCounting = memberCount > Self.fewMembers }

    /// Whether a member may be inserted; takes its comparisons from `comparisons`.
    mutating func admits(_ member: NSObject?, _ comparisons: inout Int) -> Bool {
        guard let member else { return true }
        comparisons -= min(memberCount, Self.limit) / Self.smallComparisons
        memberCount += 1
        let data = member as? NSData
        guard isCounting || data != nil else { return comparisons >= 0 }
        let hash = member.hash
        let earlier = counts[hash, default: 0]
        counts[hash] = earlier + 1
        if let data {
            comparisons -= earlier * (Self.bytesPerComparison + data.length) / 16
        } else if earlier > 0 {
            comparisons -= earlier * Self.cost(ofComparing: member)
        }
        return earlier < Self.limit && comparisons >= 0
    }

    /// The units that a comparison of a member with another one of its hash takes. A list whose members are not shared
    /// has enough for as many as may share a hash.
    private static func cost(ofComparing member: NSObject) -> Int {
        (member as? NSString).map { 8 + $0.length / 512 } ?? 1
    }
}
