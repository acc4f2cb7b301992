/// The way from the root to a value, kept as links: it is needed for errors only.
final class CodingPath {
    let parent: CodingPath?
    let key: any CodingKey

    init(_ parent: CodingPath?, _ key: any CodingKey) {
        self.parent = parent
        self.key = key
    }

    static func keys(_ path: CodingPath?) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var next = path
        while let current = next {
            keys.append(current.key)
            next = current.parent
        }
        return keys.reversed()
    }
}

/// A position in an array, or the key `super`.
///
/// An enumeration: it has place in an existential, which a struct of two optionals would be allocated for.
enum ArchiveKey: CodingKey {
    case name(String)
    /// A position, whose text is made for errors only.
    case position(Int)
    /// An integer and its text.
    case number(Int)

    var stringValue: String {
        switch self {
        case .name(let text): text
        case .position(let index): "Index \(index)"
        case .number(let number): String(number)
        }
    }

    var intValue: Int? {
        switch self {
        case .name: nil
        case .position(let number), .number(let number): number
        }
    }

    init(index: Int) { self = .position(index) }
    init(stringValue: String) { self = .name(stringValue) }
    init(intValue: Int) { self = .number(intValue) }

    static let superKey = ArchiveKey(stringValue: "super")
}

extension CodingPath? {
    /// The place of an error in the standard library's words.
    func context(_ text: String, _ cause: ArchiveError? = nil) -> DecodingError.Context {
        DecodingError.Context(codingPath: CodingPath.keys(self), debugDescription: text, underlyingError: cause)
    }
}
