/// A pattern of keys, as in shells: `*` stands for any characters, `?` for one, `[a-z]` for one of a set and `[!a-z]`
/// for one outside it; a backslash takes the next character as it is. Compares Unicode scalars.
struct GlobPattern: Sendable, Equatable {
    private enum Piece: Sendable, Equatable {
        case run
        case any
        case scalar(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func matches(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .run: false
            case .any: true
            case .scalar(let own): own == scalar
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
            }
        }
    }

    private let pieces: [Piece]

    /// - Throws: if a set has no end, or a range goes backwards, or a backslash stands at the end.
    init(parsing text: String) throws(InvalidValue) {
        let invalid = InvalidValue(text, expected: "a pattern such as 'user/*' or '[a-f]?'")
        var rest = text.unicodeScalars[...]
        var pieces: [Piece] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*":
                if pieces.last != .run { pieces.append(.run) }
            case "?": pieces.append(.any)
            case "[":
                guard let set = Self.set(&rest) else { throw invalid }
                pieces.append(set)
            case "\\":
                guard let next = rest.popFirst() else { throw invalid }
                pieces.append(.scalar(next))
            default: pieces.append(.scalar(scalar))
            }
        }
        self.pieces = pieces
    }

    /// Reads a set after its bracket; `nil` if it is not one.
    private static func set(_ rest: inout Substring.UnicodeScalarView) -> Piece? {
        let isNegated = rest.first == "!"
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let lower = rest.popFirst() {
            if lower == "]", !ranges.isEmpty { return .set(ranges, isNegated: isNegated) }
            var upper = lower
            if rest.first == "-", let next = rest.dropFirst().first, next != "]" {
                rest.removeFirst(2)
                upper = next
            }
            guard lower <= upper else { return nil }
            ranges.append(lower...upper)
        }
        return nil
    }

    /// Whether the whole of `text` is of this pattern.
    ///
    /// - Complexity: O(*n* × *m*) in the lengths of the text and the pattern.
    func matches(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        var piece = 0
        // Where the last run began, and the character up to which it goes.
        var retry: (piece: Int, index: String.Index)?
        while index < scalars.endIndex {
            if piece < pieces.count, pieces[piece] == .run {
                piece += 1
                retry = (piece, index)
            } else if piece < pieces.count, pieces[piece].matches(scalars[index]) {
                piece += 1
                index = scalars.index(after: index)
            } else if let last = retry {
                index = scalars.index(after: last.index)
                piece = last.piece
                retry = (piece, index)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .run }
    }
}
