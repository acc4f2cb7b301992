import Foundation
import KeyedArchive

extension TypedStream: CustomStringConvertible {
    private static let longestText = 200

    /// The stream as an indented list of its groups and objects, for people.
    ///
    /// An object is shown where it is met first; from then on only its place is shown:
    ///
    ///     @: NSArray(0) < NSObject(0) #0
    ///       i: 2
    ///       @: NSString(1) < NSObject(0) #3
    ///         +: "a"
    ///       @: see #3
    ///
    /// Control characters are escaped.
    public var description: String {
        var text = ""
        var shown: Set<Int> = []
        var pending = groups.reversed().map { ($0, 0) }
        while let (group, depth) = pending.popLast() {
            text +=
                String(repeating: "  ", count: depth)
                + EscapedText(group.types, limit: Self.longestText).description
            var inside: [(Group, Int)] = []
            text +=
                ": " + group.values.map { show($0, &shown, depth: depth, inside: &inside) }.joined(separator: ", ")
                + "\n"
            pending += inside.reversed()
        }
        return text
    }

    private func show(_ value: Value, _ shown: inout Set<Int>, depth: Int, inside: inout [(Group, Int)]) -> String {
        switch value {
        case .integer(let value): return "\(value)"
        case .unsigned(let value): return "\(value)"
        case .float(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .omitted: return "omitted"
        case .bytes(nil), .name(nil), .reference(nil): return "nil"
        case .bytes(let data?), .name(let data?): return Self.show(data)
        case .array(let values):
            return "[" + values.map { show($0, &shown, depth: depth, inside: &inside) }.joined(separator: ", ")
                + "]"
        case .structure(let values):
            return "{" + values.map { show($0, &shown, depth: depth, inside: &inside) }.joined(separator: ", ")
                + "}"
        case .reference(let place?):
            switch object(place) {
            case .cString(let data)?: return Self.show(data)
            case .classDescription(let description)?: return "the class \(Self.show(description))"
            case nil: return "#\(place), which is not there"
            case .instance(let instance)?:
                guard shown.insert(place).inserted else { return "see #\(place)" }
                if depth < ArchiveOutline.depthLimit { inside += instance.groups.map { ($0, depth + 1) } }
                return classes(of: instance) + " #\(place)"
            }
        }
    }

    private func classes(of instance: Instance) -> String {
        var names: [String] = []
        var next: Int? = instance.classPlace
        while let place = next, case .classDescription(let description)? = object(place), names.count < 32 {
            names.append(Self.show(description))
            next = description.superclass
        }
        return names.joined(separator: " < ")
    }

    private static func show(_ description: ClassDescription) -> String {
        "\(EscapedText(description.name, limit: longestText))(\(description.version))"
    }

    private static func show(_ data: Data) -> String {
        guard let text = String(validating: data, as: UTF8.self) else { return "\(data.count) bytes" }
        return EscapedText.quoted(text, prefix: longestText)
    }
}
