import Foundation

/// A scalar type of C, by the character that Objective-C encodes it with.
enum ObjCScalar: Character {
    case char = "c"
    case unsignedChar = "C"
    case short = "s"
    case unsignedShort = "S"
    case int = "i"
    case unsignedInt = "I"
    // Of 32 bits, whatever the compiler's `long` has.
    case long = "l"
    case unsignedLong = "L"
    case longLong = "q"
    case unsignedLongLong = "Q"
    case float = "f"
    case double = "d"
    case bool = "B"

    var size: Int {
        switch self {
        case .char, .unsignedChar, .bool: 1
        case .short, .unsignedShort: 2
        case .int, .unsignedInt, .long, .unsignedLong, .float: 4
        case .longLong, .unsignedLongLong, .double: 8
        }
    }

    /// A scalar of a row.
    ///
    /// - Precondition: `bytes` has as many.
    func number(in bytes: [UInt8], at index: Int) -> NSNumber {
        func load<T: BitwiseCopyable>(_ type: T.Type) -> T {
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * size, as: type) }
        }
        return switch self {
        case .char: NSNumber(value: load(Int8.self))
        case .unsignedChar: NSNumber(value: load(UInt8.self))
        case .short: NSNumber(value: load(Int16.self))
        case .unsignedShort: NSNumber(value: load(UInt16.self))
        case .int: NSNumber(value: load(Int32.self))
        case .unsignedInt: NSNumber(value: load(UInt32.self))
        case .long: NSNumber(value: load(Int32.self))
        case .unsignedLong: NSNumber(value: load(UInt32.self))
        case .longLong: NSNumber(value: load(Int64.self))
        case .unsignedLongLong: NSNumber(value: load(UInt64.self))
        case .float: NSNumber(value: load(Float.self))
        case .double: NSNumber(value: load(Double.self))
        case .bool: NSNumber(value: load(UInt8.self) != 0)
        }
    }

    /// Appends a number in this type; `false` if it does not fit.
    func append(_ number: NSNumber, to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .char: append(number as? Int8, &bytes)
        case .unsignedChar: append(number as? UInt8, &bytes)
        case .short: append(number as? Int16, &bytes)
        case .unsignedShort: append(number as? UInt16, &bytes)
        case .int: append(number as? Int32, &bytes)
        case .unsignedInt: append(number as? UInt32, &bytes)
        case .long: append(number as? Int32, &bytes)
        case .unsignedLong: append(number as? UInt32, &bytes)
        case .longLong: append(number as? Int64, &bytes)
        case .unsignedLongLong: append(number as? UInt64, &bytes)
        // Rounded, as every Float was on the way there.
        case .float: append(number.floatValue, &bytes)
        case .double: append(number.doubleValue, &bytes)
        case .bool: append((number as? Bool).map { UInt8($0 ? 1 : 0) }, &bytes)
        }
    }

    private func append<T: BitwiseCopyable>(_ value: T?, _ bytes: inout [UInt8]) -> Bool {
        guard let value else { return false }
        withUnsafeBytes(of: value) { bytes += $0 }
        return true
    }
}

/// A scalar, or several in a row: `q`, `[3i]`.
struct ScalarRun {
    private static let countLimit = 1 << 20

    let scalar: ObjCScalar
    let count: Int
    let isArray: Bool

    var size: Int { count * scalar.size }

    /// `nil` for structures, pointers, and all else.
    init?(objCType type: String) {
        guard type.utf8.count < 32, let last = type.last else { return nil }
        if last != "]" {
            guard type.count == 1, let scalar = ObjCScalar(rawValue: last) else { return nil }
            (self.scalar, count, isArray) = (scalar, 1, false)
            return
        }
        guard type.first == "[", let character = type.dropLast().last, let scalar = ObjCScalar(rawValue: character),
            let count = Int(type.dropFirst().dropLast(2)), (1...Self.countLimit).contains(count)
        else { return nil }
        (self.scalar, self.count, isArray) = (scalar, count, true)
    }
}

extension KeyedArchiver {
    /// Writes scalars under the scope's next own key: inline, or as an old-style array.
    func encodeUnkeyed(_ run: ScalarRun, _ bytes: [UInt8]) {
        func append(_ index: Int) {
            writer.setUnkeyed(scalar(run.scalar.number(in: bytes, at: index), run.scalar))
        }
        guard run.isArray else { return append(0) }
        let uid = container(Self.oldStyleArray, nil) {
            encode(run.count, forKey: "NS.count")
            encode(run.scalar.size, forKey: "NS.size")
            encode(Int(run.scalar.rawValue.asciiValue ?? 0), forKey: "NS.type")
            for index in 0..<run.count { append(index) }
        }
        if !hasFailed { writer.setUnkeyed(writer.reference(to: uid)) }
    }

    private func scalar(_ number: NSNumber, _ type: ObjCScalar) -> ArchiveWriter.Reference {
        switch type {
        case .float: writer.scalar(number.floatValue)
        case .double: writer.scalar(number.doubleValue)
        case .bool: writer.scalar(number.boolValue)
        case .unsignedLongLong: writer.scalar(number.uint64Value)
        default: writer.scalar(number.int64Value)
        }
    }

    private static let oldStyleArray = ArchivedClass(name: "_NSKeyedCoderOldStyleArray")
}
