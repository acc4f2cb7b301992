/// Shows an archive as an indented tree, or as JSON.
struct ArchiveText {
    private static let longestValue = 200

    let root: ArchiveNode

    /// For people: one line per object or value.
    var prose: String {
        var text = ""
        append(root, depth: 0, to: &text)
        return text
    }

    /// For programs.
    var json: RecordValue { Self.json(root) }

    private func append(_ node: ArchiveNode, depth: Int, to text: inout String) {
        text += String(repeating: "  ", count: depth) + "\(SafeText(node.label)): "
        switch node.content {
        case .value(.data(let data)):
            text += "\(ByteText(data.count)) of data\n"
        case .value(let value):
            // JSON text has every hostile character escaped already.
            let shown = JSONWriter.text(value, isIndented: false)
            text += shown.count > Self.longestValue ? "\(shown.prefix(Self.longestValue))…\n" : "\(shown)\n"
        case .list(let children):
            text += "\n"
            for child in children { append(child, depth: depth + 1, to: &text) }
        case .reference(let identifier):
            text += "see #\(identifier)\n"
        case .object(let type, let identifier, let children):
            text += "\(SafeText(type)) #\(identifier)\n"
            for child in children { append(child, depth: depth + 1, to: &text) }
        }
    }

    private static func json(_ node: ArchiveNode) -> RecordValue {
        var fields = [RecordField(name: "label", value: .string(node.label))]
        switch node.content {
        case .value(let value):
            fields.append(RecordField(name: "value", value: value))
        case .list(let children):
            fields.append(RecordField(name: "children", value: .array(children.map(json))))
        case .reference(let identifier):
            fields.append(RecordField(name: "reference", value: .int(Int64(identifier))))
        case .object(let type, let identifier, let children):
            fields.append(RecordField(name: "type", value: .string(type)))
            fields.append(RecordField(name: "identifier", value: .int(Int64(identifier))))
            fields.append(RecordField(name: "children", value: .array(children.map(json))))
        }
        return .object(Record(fields: fields))
    }
}
