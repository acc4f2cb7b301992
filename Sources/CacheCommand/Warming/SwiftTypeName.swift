/// The names of Swift types, as entries have them.
enum SwiftTypeName {
    /// Whether `text` can be a type's name with its module: `atlas.City`, `atlas.Map.Place` or `atlas.Box<Swift.Int>`.
    static func isComplete(_ text: String) -> Bool {
        let bracket = text.firstIndex(of: "<")
        if bracket != nil, !text.contains(">") { return false }
        let names = text[..<(bracket ?? text.endIndex)].split(separator: ".", omittingEmptySubsequences: false)
        return names.count >= 2 && names.allSatisfy(isIdentifier)
    }

    private static func isIdentifier(_ name: Substring) -> Bool {
        guard let first = name.utf8.first, !digits.contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            // Most characters beyond ASCII can stand in a name.
            byte >= 0x80 || byte == UInt8(ascii: "_") || digits.contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}
