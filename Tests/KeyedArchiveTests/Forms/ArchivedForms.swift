import Foundation
import Testing

@testable import KeyedArchive

/// The content of an archive, as text: `NSLocale{NS.identifier: @"de"}`. An `@` is a reference to an object; values
/// without it are inline. Keys are sorted.
struct ArchivedForms {
    private let tree: ArchiveTree

    init(of value: Any) throws { try self.init(KeyedArchiver.archivedData(withRootObject: value)) }

    init(_ data: Data) throws { tree = try ArchiveTree([UInt8](data)) }

    /// The root and all that it refers to.
    var root: String {
        guard let root = tree.roots.first, case .reference(let place) = root.value else { return "" }
        return object(place)
    }

    /// The class of the root.
    var rootClass: String { String(root.prefix { $0 != "{" }) }

    private func object(_ place: Int) -> String {
        switch tree.objects[place] {
        case .value(let value): return text(value)
        case .empty: return "nil"
        case .classDescription: return "class"
        case .instance(let instance):
            let name = tree.classDescription(of: instance)?.name ?? "?"
            let texts = instance.fields.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
            return "\(name){\(texts.joined(separator: ", "))}"
        }
    }

    private func text(_ value: ArchiveTree.Value) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .data(let value): "<\(value.map { String(format: "%02x", $0) }.joined())>"
        case .date(let value): "\(value.timeIntervalSinceReferenceDate)"
        case .array(let members), .set(let members): "[\(members.map(text).joined(separator: ", "))]"
        case .dictionary(let fields): "[\(fields.map { "\($0.key): \(text($0.value))" }.joined(separator: ", "))]"
        case .reference(0): "nil"
        case .reference(let place): "@\(object(place))"
        }
    }
}
