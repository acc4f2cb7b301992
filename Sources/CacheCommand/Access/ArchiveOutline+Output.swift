import KeyedArchive

extension ArchiveOutline {
    /// For programs: the roots as nested objects, or the one root there is.
    var json: RecordValue {
        var rest = lines[...]
        var roots: [RecordValue] = []
        while !rest.isEmpty { roots.append(Self.json(&rest)) }
        return roots.count == 1 ? roots[0] : .array(roots)
    }

    /// Takes the first line and all that is inside of it.
    private static func json(_ rest: inout ArraySlice<Line>) -> RecordValue {
        let line = rest.removeFirst()
        var fields = [RecordField(name: "label", value: .string(line.label))]
        switch line.content {
        case .value(let value):
            fields.append(RecordField(name: "value", value: RecordValue(value)))
        case .list:
            fields.append(RecordField(name: "children", value: .array(children(of: line, &rest))))
        case .reference(let place):
            fields.append(RecordField(name: "reference", value: .int(Int64(place))))
        case .object(let className, let place):
            fields.append(RecordField(name: "type", value: .string(className)))
            fields.append(RecordField(name: "identifier", value: .int(Int64(place))))
            fields.append(RecordField(name: "children", value: .array(children(of: line, &rest))))
        case .classDescription(let name):
            fields.append(RecordField(name: "class", value: .string(name)))
        case .omitted:
            fields.append(RecordField(name: "omitted", value: .bool(true)))
        }
        return .object(Record(fields: fields))
    }

    private static func children(of line: Line, _ rest: inout ArraySlice<Line>) -> [RecordValue] {
        var children: [RecordValue] = []
        while let next = rest.first, next.depth > line.depth { children.append(json(&rest)) }
        return children
    }
}
