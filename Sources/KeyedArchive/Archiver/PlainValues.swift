/// A value and the values in it, one after another as their text has them, without an object for each.
///
/// Two arrays hold all of it. An array is followed by its elements, an object by its members, each a string, its name,
/// and the value.
package struct PlainValues: Sendable {
    /// One value, or the name of a member.
    package struct Item: BitwiseCopyable, Sendable {
        package enum Kind: UInt8, BitwiseCopyable, Sendable {
            case null
            case bool
            case integer
            /// An integer above `Int64.max`.
            case unsigned
            case real
            case string
            case array
            case object
        }

        package let kind: Kind
        /// Whether all bytes of a string are ASCII.
        package let isASCII: Bool
        /// Bytes of a string, elements of an array, members of an object.
        package let count: UInt32
        /// 0 or 1; an integer; a double's bits; where in the text a string begins; the index after the last item in an
        /// array or object.
        package let content: UInt64

        private init(_ kind: Kind, isASCII: Bool = false, count: Int = 0, content: UInt64 = 0) {
            self.kind = kind
            self.isASCII = isASCII
            self.count = UInt32(truncatingIfNeeded: count)
            self.content = content
        }

        package static var null: Item { Item(.null) }
        package static func bool(_ value: Bool) -> Item { Item(.bool, content: value ? 1 : 0) }
        package static func integer(_ value: Int64) -> Item { Item(.integer, content: UInt64(bitPattern: value)) }
        package static func unsigned(_ value: UInt64) -> Item { Item(.unsigned, content: value) }
        package static func real(_ value: Double) -> Item { Item(.real, content: value.bitPattern) }

        /// A string whose UTF-8 bytes, less than 4 GiB, are at `range` of the text.
        package static func string(_ range: Range<Int>, isASCII: Bool) -> Item {
            Item(.string, isASCII: isASCII, count: range.count, content: UInt64(range.lowerBound))
        }

        package static func array(count: Int, end: Int) -> Item {
            Item(.array, count: count, content: UInt64(end))
        }

        /// An object whose names all differ.
        package static func object(count: Int, end: Int) -> Item {
            Item(.object, count: count, content: UInt64(end))
        }

        /// Where in the text a string is.
        package var range: Range<Int> { Int(content)..<Int(content) + Int(count) }

        package var double: Double { Double(bitPattern: content) }
    }

    package var items: [Item] = []
    /// The bytes of all strings, in any order and with any bytes between them.
    package var text: [UInt8] = []

    package init() {}

    /// The index after an item and all that is in it.
    package func end(of index: Int) -> Int {
        switch items[index].kind {
        case .array, .object: Int(items[index].content)
        default: index + 1
        }
    }

    /// The string that an item is.
    package func string(at index: Int) -> String { String(decoding: text[items[index].range], as: UTF8.self) }

    /// Whether the bytes of two strings are the same.
    package func haveSameBytes(_ one: Item, _ other: Item) -> Bool {
        one.count == other.count && text[one.range] == text[other.range]
    }
}
