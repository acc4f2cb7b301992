import Foundation

// NSDecimalNumber; the archive names the class NSDecimalNumberPlaceholder.
//
//     NS.mantissa      16 bytes: eight numbers of 16 bits, the lowest first
//     NS.mantissa.bo   the byte order of each: 1 little-endian, 2 big-endian
//     NS.length        how many of the eight count, 0...8
//     NS.exponent      of ten, -128...127
//     NS.negative      Boolean; with a length of 0: not a number
//     NS.compact       Boolean: whether the mantissa does not end in a decimal zero

// Hashing an NSDecimalNumber recurses without end in Foundation on Linux, and every cast of a set or dictionary to
// Foundation's class hashes its members.
extension Decimal: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archive(into: archiver, of: nil) }

    fileprivate func archive(into archiver: KeyedArchiver, of object: AnyObject?) -> ArchiveWriter.UID {
        guard let object else {
            guard archiver.enter() else { return 0 }
            defer { archiver.leave() }
            let uid = archiver.writer.reserveObject()
            writeFields(of: uid, with: archiver.writer)
            return uid
        }
        if archiver.writer.identities.find(object) != nil { archiver.mayBeRefused = true }
        return archiver.place(of: object) { uid in
            guard archiver.enter() else { return }
            defer { archiver.leave() }
            writeFields(of: uid, with: archiver.writer)
        }
    }

    private func writeFields(of uid: ArchiveWriter.UID, with writer: ArchiveWriter) {
        let start = writer.fieldStart
        let isNaN = isNaN
        let mantissa = isNaN ? 0 : digits
        writer.add(.length, writer.scalar(Int64((128 - mantissa.leadingZeroBitCount + 15) / 16)))
        writer.add(.exponent, writer.scalar(isNaN ? 0 : Int64(exponent)))
        writer.add(.isNegative, writer.scalar(isNaN || sign == .minus))
        writer.add(.isCompact, writer.scalar(mantissa == 0 || mantissa % 10 != 0))
        writer.add(.byteOrder, writer.scalar(Int64(1)))
        writer.add(.mantissa, withUnsafeBytes(of: mantissa.littleEndian) { writer.scalar($0) })
        writer.end(uid, class: Self.placeholder, from: start)
    }

    /// All digits as a whole number, which 128 bits hold.
    private var digits: UInt128 {
        var text = significand.magnitude.description
        // Most numbers have few: reading them as 128 bits takes ten times as long.
        return text.withUTF8 { utf8 in
            guard utf8.count < 20 else { return nil }
            var digits: UInt64 = 0
            for byte in utf8 {
                guard case 0x30...0x39 = byte else { return nil }
                digits = 10 &* digits &+ UInt64(byte &- 0x30)
            }
            return UInt128(digits)
        } ?? UInt128(text) ?? 0
    }

    private static let placeholder = ArchivedClass("NSDecimalNumberPlaceholder", under: NSDecimalNumber.self)
}

extension NSDecimalNumber: ArchiveCollection {
    func archiveDecimal(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        decimalValue.archive(into: archiver, of: self)
    }
}

extension FoundationForm {
    static let numbers = [
        FoundationForm("NSDecimalNumberPlaceholder", isDecimal: true, decimal),
        FoundationForm("NSDecimalNumber", isDecimal: true, decimal),
    ]

    // An NSDecimalNumber, which casts to Decimal and, unlike that, to every other number type too.
    private static func decimal(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let bytes = try fields.required(Data.self, "NS.mantissa")
        let order = try fields.integer("NS.mantissa.bo") ?? 1
        let length = try fields.requiredInteger("NS.length")
        let exponent = try fields.integer("NS.exponent") ?? 0
        let isNegative = try fields.bool("NS.negative")
        guard bytes.count == 16, (1...2).contains(order), (0...8).contains(length),
            (-128...127).contains(exponent)
        else { throw fields.malformed("with parts out of range") }
        var mantissa: UInt128 = 0
        for index in (0..<length).reversed() {
            let first = UInt128(bytes[bytes.startIndex + 2 * index])
            let second = UInt128(bytes[bytes.startIndex + 2 * index + 1])
            mantissa = mantissa << 16 | (order == 1 ? second << 8 | first : first << 8 | second)
        }
        if length == 0, isNegative { return NSDecimalNumber.notANumber }
        guard mantissa != 0 else { return NSDecimalNumber.zero }
        guard let significand = Decimal(string: String(mantissa)) else { throw fields.malformed() }
        let sign: FloatingPointSign = isNegative ? .minus : .plus
        return NSDecimalNumber(decimal: Decimal(sign: sign, exponent: exponent, significand: significand))
    }
}
