import Foundation

// Strings, numbers, and the values that are written as these.

extension JSONPlace {
    /// The error for a value of another kind than the one asked for.
    ///
    /// - Parameter number: which element or member it is; `nil`: the value itself.
    func mismatch(_ type: Any.Type, _ item: JSONItem, at number: Int?) -> DecodingError {
        let context = context("Expected to decode \(type), but found \(item.kind).", at: number)
        // `JSONDecoder` makes this one difference.
        return item.kind == .null && type != Bool.self
            ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func context(_ text: String, at number: Int?) -> DecodingError.Context {
        DecodingError.Context(codingPath: path + (number.map { [key($0)] } ?? []), debugDescription: text)
    }

    func bool(_ item: JSONItem, at number: Int?) throws -> Bool {
        switch item.kind {
        case .yes: true
        case .no: false
        default: throw mismatch(Bool.self, item, at: number)
        }
    }

    // MARK: Strings

    func string(_ item: JSONItem, at number: Int?) throws -> String {
        guard item.kind == .string else { throw mismatch(String.self, item, at: number) }
        if !item.isPlain { return try unescaped(item.range) }
        // Validating takes several times as long.
        if item.isASCII { return String(decoding: document.bytes[item.range], as: UTF8.self) }
        guard let text = String(validating: document.bytes[item.range], as: UTF8.self) else {
            throw document.unclear()
        }
        return text
    }

    private func unescaped(_ range: Range<Int>) throws -> String {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        let bytes = document.bytes
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] != UInt8(ascii: "\\") {
                text.append(bytes[index])
                index += 1
                continue
            }
            // The reader has seen the byte after.
            let mark = bytes[index + 1]
            index += 2
            switch mark {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(mark)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): text.append(contentsOf: try scalar(at: &index, before: range.upperBound).utf8)
            default: throw document.unclear()
            }
        }
        guard let text = String(validating: text, as: UTF8.self) else { throw document.unclear() }
        return text
    }

    /// The scalar that one escape stands for, or two that are a surrogate pair.
    ///
    /// - Parameter index: after the `u`; is moved after the last digit.
    private func scalar(at index: inout Int, before end: Int) throws -> Character {
        let first = try unit(at: &index, before: end)
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard first < 0xDC00, index + 2 <= end, document.bytes[index] == UInt8(ascii: "\\"),
            document.bytes[index + 1] == UInt8(ascii: "u")
        else { throw document.unclear() }
        index += 2
        let second = try unit(at: &index, before: end)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw document.unclear() }
        return Character(scalar)
    }

    private func unit(at index: inout Int, before end: Int) throws -> UInt32 {
        guard index + 4 <= end else { throw document.unclear() }
        var value: UInt32 = 0
        for byte in document.bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw document.unclear() }
            value = value << 4 | UInt32(digit)
        }
        index += 4
        return value
    }

    func url(_ item: JSONItem, at number: Int?) throws -> URL {
        guard item.kind == .string else { throw mismatch(URL.self, item, at: number) }
        if let url = URL(string: try string(item, at: number)) { return url }
        throw DecodingError.dataCorrupted(context("This is no URL.", at: number))
    }

    func data(_ item: JSONItem, at number: Int?) throws -> Data {
        if item.kind == .null { throw mismatch(Data.self, item, at: number) }
        switch document.settings.data {
        case .base64:
            guard let data = Data(base64Encoded: try string(item, at: number)) else { throw document.unclear() }
            return data
        case .deferredToData: return try Data(from: number.map(place) ?? self)
        case .custom(let decode): return try decode(number.map(place) ?? self)
        @unknown default: throw document.unclear()
        }
    }

    func date(_ item: JSONItem, at number: Int?) throws -> Date {
        if item.kind == .null { throw mismatch(Date.self, item, at: number) }
        switch document.settings.dates {
        case .deferredToDate: return try Date(from: number.map(place) ?? self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try real(Double.self, item, at: number))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try real(Double.self, item, at: number) / 1_000)
        case .iso8601:
            let text = try string(item, at: number)
            do {
                return try Date.ISO8601FormatStyle().parse(text)
            } catch {
                throw DecodingError.dataCorrupted(context("This is no date of ISO 8601.", at: number))
            }
        #if canImport(Darwin)
            case .formatted(let formatter):
                if let date = formatter.date(from: try string(item, at: number)) { return date }
                throw DecodingError.dataCorrupted(context("This is no date of the formatter's form.", at: number))
        #endif
        case .custom(let decode): return try decode(number.map(place) ?? self)
        @unknown default: throw document.unclear()
        }
    }

    // MARK: Numbers

    /// The digits of a whole number, if 64 bits hold them.
    @inline(__always)
    private func magnitude(_ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(document.bytes[index] &- UInt8(ascii: "0")))
            guard !overflows, !carries else { return nil }
            value = sum
        }
        return value
    }

    @inline(__always)
    private func isNegative(_ item: JSONItem) -> Bool { document.bytes[Int(item.start)] == UInt8(ascii: "-") }

    @inline(__always)
    func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ item: JSONItem, at number: Int?) throws -> Number
    {
        guard item.kind == .number else { throw mismatch(type, item, at: number) }
        if item.isPlain {
            let isNegative = isNegative(item)
            let digits = item.range.dropFirst(isNegative ? 1 : 0)
            if let magnitude = magnitude(digits.startIndex..<digits.endIndex) {
                if !isNegative, let value = Number(exactly: magnitude) { return value }
                if isNegative, magnitude <= UInt64(Int64.max), let value = Number(exactly: -Int64(magnitude)) {
                    return value
                }
            }
        } else {
            let value = try real(Double.self, item, at: number)
            if value.magnitude < 0x1p53, let value = Number(exactly: value) { return value }
        }
        throw document.unclear()
    }

    @inline(__always)
    func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Number.Type,
        _ item: JSONItem,
        at number: Int?
    ) throws -> Number {
        guard item.kind == .number else { throw mismatch(type, item, at: number) }
        if let value = shortDecimal(item), Number.self == Double.self || value == 0 { return Number(value) }
        guard let value = Number(String(decoding: document.bytes[item.range], as: UTF8.self)), value.isFinite,
            value != 0
        else { throw document.unclear() }
        return value
    }

    /// The powers of ten that a double holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19,
        1e20, 1e21, 1e22,
    ]

    /// The nearest double of a number without exponent, where digits and power of ten are both exact doubles: one
    /// rounding is correct (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
    private func shortDecimal(_ item: JSONItem) -> Double? {
        let range = item.range
        guard range.count <= 20 else { return nil }
        var digits: UInt64 = 0
        var places: Int?
        for index in isNegative(item) ? range.dropFirst() : range[...] {
            let byte = document.bytes[index]
            if JSONReader.isDigit(byte) {
                guard digits < 1 << 53 else { return nil }
                digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
                places = places.map { $0 + 1 }
            } else {
                guard byte == UInt8(ascii: ".") else { return nil }
                places = 0
            }
        }
        guard digits <= 1 << 53 else { return nil }
        let value = Double(digits) / Self.powers[places ?? 0]
        return isNegative(item) ? -value : value
    }

    func decimal(_ item: JSONItem, at number: Int?) throws -> Decimal {
        guard item.kind == .number else { throw mismatch(Decimal.self, item, at: number) }
        // A decimal holds 38 digits; powers of ten are unusual.
        let text = String(decoding: document.bytes[item.range], as: UTF8.self)
        guard text.utf8.count <= 38, !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }),
            let value = Decimal(string: text, locale: nil)
        else { throw document.unclear() }
        return value
    }
}
