import KeyedArchive
import PropertyLists

extension PropertyList {
    /// - Throws: the fault of a reference that no property list can hold.
    init(content: PropertyListContent) throws(DocumentFault) {
        switch content {
        case .null: self.init(.null)
        case .bool(let value): self.init(.bool(value))
        case .integer(let value): self.init(.integer(value))
        case .unsigned(let value): self.init(.unsigned(value))
        case .float(let value): self.init(.real(Double(value)))
        case .real(let value): self.init(.real(value))
        case .date(let value): self.init(.date(value))
        case .data(let value): self.init(.data(value))
        case .string(let value): self.init(.string(value))
        case .reference(let place):
            guard let value = UInt32(exactly: place) else {
                throw DocumentFault("a reference to object \(place), which no property list can hold")
            }
            self.init(.uid(value))
        case .array(let members): self.init(.array(try Self.lists(members)))
        case .set(let members): self.init(.set(try Self.lists(members)))
        case .dictionary(let fields):
            var entries: [Entry] = []
            entries.reserveCapacity(fields.count)
            for field in fields {
                entries.append(Entry(key: field.key, value: try PropertyList(content: field.value)))
            }
            self.init(.dictionary(entries))
        }
    }

    private static func lists(_ members: [PropertyListContent]) throws(DocumentFault) -> [PropertyList] {
        var lists: [PropertyList] = []
        lists.reserveCapacity(members.count)
        for member in members { lists.append(try PropertyList(content: member)) }
        return lists
    }
}
