import Foundation
import KeyedArchive
import SequentialArchive

/// Archives of `NSArchiver`, which are called typed streams.
enum TypedStreamFormat: DocumentFormat {
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        do throws(ArchiveError) {
            return TypedStreamDocument(stream: try TypedStream(bytes))
        } catch {
            if error.code == .unknownFormat { return nil }
            throw DocumentFault(error)
        }
    }
}

private struct TypedStreamDocument: Document {
    let stream: TypedStream

    var formatName: String { "archive of NSArchiver" }
    var outline: ArchiveOutline { TypedStreamOutline(stream).outline }

    /// The values of Foundation's classes; other objects as dictionaries. XML has no null: nil is `$null` there, as in
    /// keyed archives.
    func propertyList(for form: DocumentForm) -> PropertyListContent? {
        var maker = TypedStreamContent(stream, nilValue: form == .xml ? .string("$null") : .null)
        return try? maker.value()
    }
}

/// A typed stream as lines: each group of values with its types as its label.
private struct TypedStreamOutline {
    private let stream: TypedStream
    private var lines: [ArchiveOutline.Line] = []
    private var shown: Set<Int> = []
    private var pending: [(part: Part, label: String, depth: Int)] = []

    private enum Part {
        case group(TypedStream.Group)
        case value(TypedStream.Value)
    }

    init(_ stream: TypedStream) {
        self.stream = stream
        push(stream.groups.map { (.group($0), $0.types) }, depth: 0)
        while let (part, label, depth: depth) = pending.popLast() {
            switch part {
            case .value(let value): show(value, label, depth: depth)
            case .group(let group) where group.values.count == 1: show(group.values[0], label, depth: depth)
            case .group(let group): show(list: group.values, label, depth: depth)
            }
        }
    }

    var outline: ArchiveOutline { ArchiveOutline(lines: lines) }

    private mutating func push(_ parts: [(Part, String)], depth: Int) {
        for (part, label) in parts.reversed() { pending.append((part, label, depth: depth)) }
    }

    private mutating func show(list values: [TypedStream.Value], _ label: String, depth: Int) {
        add(.list, label, depth: depth)
        push(values.enumerated().map { (.value($1), "\($0)") }, depth: depth + 1)
    }

    private mutating func add(_ content: ArchiveOutline.Content, _ label: String, depth: Int) {
        lines.append(ArchiveOutline.Line(depth: depth, label: label, content: content))
    }

    private mutating func show(_ value: TypedStream.Value, _ label: String, depth: Int) {
        switch value {
        case .array(let values), .structure(let values): show(list: values, label, depth: depth)
        case .reference(let place?): show(at: place, value, label, depth: depth)
        default: add(.value(PropertyListContent(plain: value)), label, depth: depth)
        }
    }

    private mutating func show(at place: Int, _ value: TypedStream.Value, _ label: String, depth: Int) {
        switch stream.object(place) {
        case .classDescription(let description)?:
            add(.classDescription(name: description.name), label, depth: depth)
        case .cString(let bytes)?: add(.value(PropertyListContent(textOrData: bytes)), label, depth: depth)
        case nil: add(.value(.null), label, depth: depth)
        case .instance(let instance)?:
            let name = stream.classDescription(of: value)?.name ?? "?"
            if name == "NSString", let text = stream.text(value) {
                return add(.value(.string(text)), label, depth: depth)
            }
            guard shown.insert(place).inserted else { return add(.reference(place: place), label, depth: depth) }
            guard depth < ArchiveOutline.depthLimit else { return add(.omitted, label, depth: depth) }
            add(.object(className: name, place: place), label, depth: depth)
            push(instance.groups.map { (.group($0), $0.types) }, depth: depth + 1)
        }
    }
}
