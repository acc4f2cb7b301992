import Foundation
import PropertyLists

/// An archive as an indented list of named objects with their classes, for people.
///
/// An object is shown where it is met first; from then on only its place is shown, so that shared objects and
/// cycles can be told from copies:
///
///     root: zoo.Lion #1
///       name: "Leo"
///       mate: zoo.Lion #4
///         name: "Elsa"
///         mate: see #1
///
/// Foundation's collections are shown by their members, its strings, dates, … by their values. Control characters
/// are escaped in every archive.
public struct ArchiveOutline: Sendable, Equatable {
    /// One object or value.
    public struct Line: Sendable, Equatable {
        /// How many objects and lists it is inside of.
        public let depth: Int
        /// The key or number under which its parent holds it.
        public let label: String
        /// The value or object on the line.
        public let content: Content

        /// Makes a line by hand.
        public init(depth: Int, label: String, content: Content) {
            self.depth = depth
            self.label = label
            self.content = content
        }
    }

    /// The value or object on a line. Objects are shown once, references to them by their places.
    public enum Content: Sendable, Equatable {
        /// A value that stands for itself and holds no other values.
        case value(ArchiveTree.Value)
        /// An object of a class, in its place; its content follows, one deeper.
        case object(className: String, place: Int)
        /// A list or dictionary that is not an object of its own; its content follows, one deeper.
        case list
        /// An object that has been shown already.
        case reference(place: Int)
        /// A class that is referred to as if it were an object.
        case classDescription(name: String)
        /// Something that is nested too deep to be shown.
        case omitted
    }

    /// How deep things are shown.
    public static let depthLimit = 1_000

    /// The lines from the top down.
    public let lines: [Line]

    /// Makes an outline of lines by hand.
    public init(lines: [Line]) { self.lines = lines }

    /// The outline of a tree: of its root, or of all of them below a line for the outermost scope.
    ///
    /// - Complexity: O(*n* log *n*) in the tree's values.
    public init(_ tree: ArchiveTree) {
        var maker = OutlineMaker(tree: tree)
        if tree.roots.count == 1 {
            maker.show(tree.roots.map { ($0.name, $0.value) }, depth: 0)
        } else {
            maker.lines.append(Line(depth: 0, label: "$top", content: .object(className: "archive", place: 0)))
            maker.show(tree.roots.map { ($0.name, $0.value) }, depth: 1)
        }
        lines = maker.lines
    }
}

/// Walks a tree without recursion: archives nest as deep as they like.
private struct OutlineMaker {
    let tree: ArchiveTree
    var lines: [ArchiveOutline.Line] = []
    private var shown: Set<Int> = []

    init(tree: ArchiveTree) { self.tree = tree }

    mutating func show(_ values: [(name: String, value: ArchiveTree.Value)], depth: Int) {
        var pending = values.reversed().map { ($0.name, $0.value, depth) }
        while let (label, value, depth) = pending.popLast() {
            let (content, children) = look(at: value, depth: depth)
            lines.append(ArchiveOutline.Line(depth: depth, label: label, content: content))
            for child in children.reversed() { pending.append((child.name, child.value, depth + 1)) }
        }
    }

    private mutating func look(
        at value: ArchiveTree.Value,
        depth: Int
    ) -> (ArchiveOutline.Content, [(name: String, value: ArchiveTree.Value)]) {
        if let scalar = tree.scalar(value) { return (.value(scalar), []) }
        guard depth < ArchiveOutline.depthLimit else { return (.omitted, []) }
        guard case .reference(let place) = value else { return (.list, tree.children(of: value)) }
        switch tree.object(place) {
        case .classDescription(let description)?: return (.classDescription(name: description.name), [])
        case .instance(let instance)?:
            guard shown.insert(place).inserted else { return (.reference(place: place), []) }
            let name = tree.classDescription(of: instance)?.name ?? "?"
            return (.object(className: name, place: place), tree.children(of: value))
        case .value(.reference(let other))?: return (.reference(place: other), [])
        case .value?:
            guard shown.insert(place).inserted else { return (.reference(place: place), []) }
            return (.list, tree.children(of: value))
        case .empty?, nil: return (.value(.null), [])
        }
    }
}

// MARK: Text

extension ArchiveOutline: CustomStringConvertible {
    private static let longestText = 200

    /// One line for each object or value, indented by two spaces for each level.
    public var description: String {
        var text = ""
        for line in lines {
            text += String(repeating: "  ", count: line.depth)
            text += EscapedText(line.label).description
            switch line.content {
            case .value(let value): text += ": \(Self.text(value))\n"
            case .object(let name, let place): text += ": \(EscapedText(name)) #\(place)\n"
            case .list: text += ":\n"
            case .reference(let place): text += ": see #\(place)\n"
            case .classDescription(let name): text += ": the class \(EscapedText(name))\n"
            case .omitted: text += ": …\n"
            }
        }
        return text
    }

    private static func text(_ value: ArchiveTree.Value) -> String {
        switch value {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let text): EscapedText.quoted(text, prefix: longestText)
        case .data(let data): "\(data.count) bytes of data"
        case .date(let date): Self.text(date)
        case .null, .array, .set, .dictionary, .reference: "null"
        }
    }

    /// A date in UTC, to the millisecond if it has any; its seconds since 2001 if it has no year of four digits.
    private static func text(_ date: Date) -> String {
        let milliseconds = (date.timeIntervalSinceReferenceDate * 1_000).rounded()
        guard let civil = CivilDate(flooring: milliseconds / 1_000), civil.hasYearOfFourDigits else {
            return "\(date.timeIntervalSinceReferenceDate) s since 2001"
        }
        return civil.text(milliseconds: Int(milliseconds - (milliseconds / 1_000).rounded(.down) * 1_000))
    }
}
