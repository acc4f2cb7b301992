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
struct ArchiveKey: CodingKey {
    /// `nil` for a position, whose text is made for errors only.
    private let text: String?
    let intValue: Int?

    var stringValue: String { text ?? "Index \(intValue ?? 0)" }

    init(index: Int) {
        text = nil
        intValue = index
    }

    init(stringValue: String) {
        text = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        text = String(intValue)
        self.intValue = intValue
    }

    static let superKey = ArchiveKey(stringValue: "super")
}

extension CodingPath? {
    /// The place of an error in the standard library's words.
    func context(_ text: String, _ cause: ArchiveError? = nil) -> DecodingError.Context {
        DecodingError.Context(codingPath: CodingPath.keys(self), debugDescription: text, underlyingError: cause)
    }
}
