import Foundation

/// Builds a binary property list of values that come from elsewhere; equal strings are one object.
struct PropertyListBuilder: ~Copyable {
    typealias Reference = BinaryPropertyListWriter.Reference

    var list = BinaryPropertyListWriter()
    private var strings = StringTable()
    private var pairs = RawBuffer<KeyedReference>(capacity: 64)

    init() {}

    /// Adds a string; `nil` if its bytes are no valid UTF-8.
    mutating func add(
        utf8: UnsafeBufferPointer<UInt8>,
        as role: BinaryPropertyListWriter.TextRole = .value
    ) -> Reference? {
        let (hash, isASCII) = strings.digest(utf8)
        if let known = strings.index(of: utf8, hash: hash, in: &list) { return strings[known].reference }
        let reference: Reference
        if isASCII {
            reference = list.add(ascii: utf8, as: role)
        } else {
            guard let text = String(validating: utf8, as: UTF8.self) else { return nil }
            reference = list.add(utf16: text.utf16, as: role)
        }
        _ = strings.add(utf8, hash: hash, isASCII: isASCII, reference: reference, in: &list)
        return reference
    }

    mutating func add(_ text: String, as role: BinaryPropertyListWriter.TextRole = .value) -> Reference {
        var text = text
        // A string is valid by its type.
        return text.withUTF8 { add(utf8: $0, as: role) ?? 0 }
    }

    mutating func add(_ data: Data) -> Reference { data.withUnsafeBytes { list.add(data: $0) } }

    mutating func add(array members: [Reference]) -> Reference {
        let made = list.reserveContainer()
        list.fillArray(made, count: members.count)
        for member in members { list.addElement(member) }
        return made
    }

    mutating func add(set members: [Reference]) -> Reference {
        let made = list.reserveContainer()
        list.fillSet(made, count: members.count)
        for member in members { list.addElement(member) }
        return made
    }

    mutating func add(dictionary entries: [KeyedReference]) -> Reference {
        let made = list.reserveContainer()
        pairs.truncate(to: 0)
        for entry in entries { pairs.append(entry) }
        list.fillDictionary(made, pairs, from: 0)
        return made
    }

    /// Ends the list and returns its bytes.
    mutating func finish(top: Reference) -> [UInt8] {
        list.finish(top: top)
        return list.bytes.withElements { Array($0) }
    }
}
