import KeyedArchive

extension RecordValue {
    /// The first of plain values, with all that is in it.
    init(_ values: PlainValues) {
        var index = 0
        self.init(values, at: &index)
    }

    /// - Parameter index: of the value; of the item after it and all that is in it afterwards.
    private init(_ values: PlainValues, at index: inout Int) {
        let item = values.items[index]
        let text = item.kind == .string ? values.string(at: index) : ""
        index += 1
        switch item.kind {
        case .null: self = .null
        case .bool: self = .bool(item.content != 0)
        case .integer: self = .int(Int64(bitPattern: item.content))
        case .unsigned: self = .uint(item.content)
        case .real: self = .double(item.double)
        case .string: self = .string(text)
        case .array:
            var elements: [RecordValue] = []
            elements.reserveCapacity(Int(item.count))
            for _ in 0..<item.count { elements.append(RecordValue(values, at: &index)) }
            self = .array(elements)
        case .object:
            var record = Record()
            record.fields.reserveCapacity(Int(item.count))
            for _ in 0..<item.count {
                let name = values.string(at: index)
                index += 1
                record.fields.append(RecordField(name: name, value: RecordValue(values, at: &index)))
            }
            self = .object(record)
        }
    }
}
