import KeyedArchive

/// The names of an object that is being parsed: tells which ones occur twice.
///
/// Names are the same if Swift's strings are: by canonical equivalence, which for ASCII is that of the bytes.
struct JSONNames {
    /// Above this many names a set is cheaper than looking through them.
    private static let scanLimit = 16

    private var isASCII = true
    private var names: Set<String> = []

    /// Takes in the name that comes last in `values`; `false` if it is among the `count` members before it, which begin
    /// at `start`.
    mutating func insertLast(in values: PlainValues, after count: Int, from start: Int) -> Bool {
        let last = values.items.count - 1
        let name = values.items[last]
        if names.isEmpty {
            isASCII = isASCII && name.isASCII
            if isASCII, count < Self.scanLimit {
                var index = start
                for _ in 0..<count {
                    let item = values.items[index]
                    if !item.isASCII { isASCII = false }
                    if values.haveSameBytes(item, name) { return false }
                    index = values.end(of: index + 1)
                }
                if isASCII { return true }
            }
            var index = start
            for _ in 0..<count {
                names.insert(values.string(at: index))
                index = values.end(of: index + 1)
            }
        }
        return names.insert(values.string(at: last)).inserted
    }
}

/// The names of the record before: the next one most likely has the same, in the same order.
///
/// While it does, no name is looked up, since these are known to differ from each other.
struct ExpectedNames {
    private struct Name {
        let end: Int
        let isASCII: Bool
    }

    private var text: [UInt8] = []
    private var names: [Name] = []

    init() {}

    /// The names of an object of plain values; none if one of them is written with an escape.
    init(of values: PlainValues) {
        var index = 1
        for _ in 0..<values.items[0].count {
            let item = values.items[index]
            for byte in values.text[item.range] {
                guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                    self = ExpectedNames()
                    return
                }
                text.append(byte)
            }
            names.append(Name(end: text.count, isASCII: item.isASCII))
            index = values.end(of: index + 1)
        }
    }

    var count: Int { names.count }

    /// Looks for the name with this number, and a quote after it, at a position of `bytes`.
    ///
    /// - Returns: the name as an item; `nil` if it is not there.
    @inline(__always)
    func match(_ number: Int, in bytes: Span<UInt8>, at position: Int) -> PlainValues.Item? {
        guard number < names.count else { return nil }
        let start = number == 0 ? 0 : names[number - 1].end
        let length = names[number].end - start
        guard position + length < bytes.count, bytes[position + length] == UInt8(ascii: "\"") else { return nil }
        for offset in 0..<length where text[start + offset] != bytes[position + offset] { return nil }
        return .string(position..<position + length, isASCII: names[number].isASCII)
    }
}
