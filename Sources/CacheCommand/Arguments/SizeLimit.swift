import TypedCache

/// An amount of storage as written on a command line: a whole number of bytes, or of units of 1,024 bytes and so on.
struct SizeLimit: Sendable, Equatable {
    let bytes: ByteCount

    private static let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]

    init(parsing text: String) throws(InvalidValue) {
        let invalid = InvalidValue(text, expected: "a size such as 500K, 64M or 2G")
        let unit = text.last.flatMap { Self.units[Character($0.uppercased())] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let count = Int(digits) else {
            throw invalid
        }
        let (total, overflowed) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflowed else { throw invalid }
        bytes = .bytes(total)
    }

    /// Takes a size that some entries do not exceed: an option that selects all of them must not look like one that selects
    /// some.
    static func ofSelection(_ text: String) throws(InvalidValue) -> SizeLimit {
        let size = try SizeLimit(parsing: text)
        guard size.bytes > .bytes(0) else { throw InvalidValue(text, expected: "a size of at least 1 byte") }
        return size
    }

    /// Takes a size that leaves room for an entry: beside its record, a packed cache needs some hundred bytes.
    static func ofEntries(_ text: String) throws(InvalidValue) -> SizeLimit {
        let size = try SizeLimit(parsing: text)
        guard size.bytes >= .kibibytes(1) else { throw InvalidValue(text, expected: "a size of at least 1K") }
        return size
    }
}
