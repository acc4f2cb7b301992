import Foundation

/// Makes Foundation's objects from a table.
struct ObjectReader {
    private let table: NodeTable
    private let hasMutableContainers: Bool
    private let hasMutableLeaves: Bool

    init(_ table: NodeTable, _ options: PropertyListObjects.ReadOptions) {
        self.table = table
        hasMutableLeaves = options.contains(.mutableContainersAndLeaves)
        hasMutableContainers = hasMutableLeaves || options.contains(.mutableContainers)
    }

    func object(_ node: Node) -> Any {
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
        case .array:
            if hasMutableContainers {
                let array = NSMutableArray(capacity: min(node.length, 1 << 16))
                forEachMember(node) { array.add($0) }
                return array
            }
            var array: [Any] = []
            array.reserveCapacity(node.length)
            forEachMember(node) { array.append($0) }
            return array
        case .set:
            let set = NSMutableSet()
            forEachMember(node) { set.add($0) }
            return hasMutableContainers ? set : NSSet(set: set)
        case .dictionary: return dictionary(node)
        }
    }

    @inline(__always)
    private func forEachMember(_ node: Node, _ body: (Any) -> Void) {
        var index = node.start
        while index != 0 {
            let member = table.nodes[index]
            body(object(member))
            index = Int(member.next)
        }
    }

    private func dictionary(_ node: Node) -> Any {
        if hasMutableContainers {
            let dictionary = NSMutableDictionary(capacity: min(node.length, 1 << 16))
            var key = node.start
            while key != 0 {
                let name = table.nodes[key]
                let member = table.nodes[Int(name.next)]
                let text = NSString(string: table.text(name))
                if table.lastDuplicateCounts || dictionary.object(forKey: text) == nil {
                    dictionary.setObject(object(member), forKey: text)
                }
                key = Int(member.next)
            }
            return dictionary
        }
        var dictionary: [String: Any] = [:]
        dictionary.reserveCapacity(node.length)
        var key = node.start
        while key != 0 {
            let name = table.nodes[key]
            let member = table.nodes[Int(name.next)]
            let old = dictionary.updateValue(object(member), forKey: table.text(name))
            if let old, !table.lastDuplicateCounts { dictionary[table.text(name)] = old }
            key = Int(member.next)
        }
        return dictionary
    }
}
