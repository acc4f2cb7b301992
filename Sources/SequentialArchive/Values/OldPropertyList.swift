import Foundation
import KeyedArchive

/// The binary form of property lists before the present one, which coders without keys use.
///
///     04 00 00 00  length  bytes                       data
///     05 00 00 00  length  bytes                       a string in the encoding of NeXTSTEP; read only
///     06 00 00 00  length  FF FE code units            a string in UTF-16
///     02 00 00 00  count  lengths…  values…            an array
///     07 00 00 00  count  keys…  lengths…  values…     a dictionary; its keys are strings
///     08 00 00 00                                      nil
///
/// All numbers take four bytes, least significant first, in every archive. Bytes are filled up to a multiple of four.
enum OldPropertyList {
    private enum Kind {
        static let array: UInt32 = 2
        static let data: UInt32 = 4
        static let oldString: UInt32 = 5
        static let string: UInt32 = 6
        static let dictionary: UInt32 = 7
        static let null: UInt32 = 8
    }

    private static let depthLimit = 100

    // MARK: Writing

    /// - Throws: `.unsupportedType` for values other than strings, data, arrays and dictionaries with strings as keys.
    static func data(_ value: Any) throws(ArchiveError) -> Data {
        var bytes: [UInt8] = []
        try write(value, to: &bytes, depth: 0)
        return Data(bytes)
    }

    private static func write(_ value: Any, to bytes: inout [UInt8], depth: Int) throws(ArchiveError) {
        guard depth < depthLimit else {
            throw ArchiveError(.limitExceeded, "a property list nests more than \(depthLimit) deep")
        }
        try NestingLimit.checkStack(at: depth)
        if let text = value as? String {
            var units: [UInt8] = [0xFF, 0xFE]
            for unit in text.utf16 { units += [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] }
            write(units, as: Kind.string, to: &bytes)
        } else if let data = value as? Data {
            write(Array(data), as: Kind.data, to: &bytes)
        } else if let members = value as? [Any] {
            write(Kind.array, to: &bytes)
            write(UInt32(truncatingIfNeeded: members.count), to: &bytes)
            try write(values: members, to: &bytes, depth: depth)
        } else if let entries = value as? [String: Any] {
            let sorted = entries.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
            write(Kind.dictionary, to: &bytes)
            write(UInt32(truncatingIfNeeded: sorted.count), to: &bytes)
            for entry in sorted { try write(entry.key, to: &bytes, depth: depth + 1) }
            try write(values: sorted.map(\.value), to: &bytes, depth: depth)
        } else {
            throw ArchiveError(
                .unsupportedType,
                "\(ClassNames.name(of: type(of: value))) in a property list: without keys, those hold strings, data, "
                    + "arrays and dictionaries with strings as keys"
            )
        }
    }

    private static func write(values: [Any], to bytes: inout [UInt8], depth: Int) throws(ArchiveError) {
        var parts: [UInt8] = []
        for value in values {
            let start = parts.count
            try write(value, to: &parts, depth: depth + 1)
            write(UInt32(truncatingIfNeeded: parts.count - start), to: &bytes)
        }
        bytes += parts
    }

    private static func write(_ content: [UInt8], as kind: UInt32, to bytes: inout [UInt8]) {
        write(kind, to: &bytes)
        write(UInt32(truncatingIfNeeded: content.count), to: &bytes)
        bytes += content
        bytes += [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
    }

    private static func write(_ number: UInt32, to bytes: inout [UInt8]) {
        for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    // MARK: Reading

    /// - Returns: a `String`, `Data`, `[Any]` or `[String: Any]`; `nil` for nil.
    /// - Throws: `.corrupted`, `.limitExceeded`.
    static func value(_ data: Data) throws(ArchiveError) -> Any? {
        var rest = Array(data)[...]
        let value = try next(&rest, depth: 0)
        guard rest.isEmpty else { throw corrupted("with more behind it") }
        return value
    }

    private static func corrupted(_ fault: String) -> ArchiveError {
        ArchiveError(.corrupted, "an old property list \(fault)")
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) throws(ArchiveError) -> UInt32 {
        guard rest.count >= 4 else { throw corrupted("that ends early") }
        let number = rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        rest = rest.dropFirst(4)
        return number
    }

    private static func content(_ rest: inout ArraySlice<UInt8>) throws(ArchiveError) -> ArraySlice<UInt8> {
        let count = Int(try number(&rest))
        let padded = (count + 3) / 4 * 4
        guard padded <= rest.count else { throw corrupted("that ends early") }
        let content = rest.prefix(count)
        rest = rest.dropFirst(padded)
        return content
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError) -> Any? {
        guard depth < depthLimit else {
            throw ArchiveError(.limitExceeded, "a property list nests more than \(depthLimit) deep")
        }
        try NestingLimit.checkStack(at: depth)
        switch try number(&rest) {
        case Kind.null: return nil
        case Kind.data: return Data(try content(&rest))
        case Kind.oldString:
            let content = try content(&rest)
            guard let text = String(bytes: content, encoding: .nextstep) else {
                throw corrupted("with unknown text")
            }
            return text
        case Kind.string: return try string(content(&rest))
        case Kind.array: return try values(count(&rest), &rest, depth: depth)
        case Kind.dictionary:
            let count = try count(&rest)
            var keys: [String] = []
            keys.reserveCapacity(count)
            for _ in 0..<count {
                guard let key = try next(&rest, depth: depth + 1) as? String else {
                    throw corrupted("with a key that is not a string")
                }
                keys.append(key)
            }
            let values = try values(count, &rest, depth: depth)
            return Dictionary(zip(keys, values)) { $1 }
        default: throw corrupted("with a value of an unknown kind")
        }
    }

    /// A count of members, each of which takes four bytes at least.
    private static func count(_ rest: inout ArraySlice<UInt8>) throws(ArchiveError) -> Int {
        let count = Int(try number(&rest))
        guard count <= rest.count / 4 else { throw corrupted("that ends early") }
        return count
    }

    private static func values(_ count: Int, _ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError)
        -> [Any]
    {
        var lengths: [Int] = []
        for _ in 0..<count { lengths.append(Int(try number(&rest))) }
        var values: [Any] = []
        for length in lengths {
            let before = rest.count
            guard let value = try next(&rest, depth: depth + 1) else { throw corrupted("with nil in a collection") }
            guard before - rest.count == length else { throw corrupted("with a wrong length") }
            values.append(value)
        }
        return values
    }

    private static func string(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) -> String {
        guard bytes.count >= 2, bytes.count % 2 == 0 else { throw corrupted("with text of half a character") }
        let isBig = bytes.starts(with: [0xFE, 0xFF])
        guard isBig || bytes.starts(with: [0xFF, 0xFE]) else {
            throw corrupted("with text of an unknown byte order")
        }
        var units: [UInt16] = []
        var rest = bytes.dropFirst(2)
        while let first = rest.popFirst(), let second = rest.popFirst() {
            units.append(isBig ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first))
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw corrupted("with invalid text")
        }
        return text
    }
}
