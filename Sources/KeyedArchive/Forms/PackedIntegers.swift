import Foundation

/// Unsigned numbers in a row as Apple packs them: seven bits to a byte, the lowest ones first; the highest bit of
/// a byte says that more follow.
///
/// ```
/// 3        03
/// 1,000    E8 07
/// ```
enum PackedIntegers {
    static func data(_ numbers: some Sequence<UInt64>) -> Data {
        var data = Data()
        for number in numbers {
            var rest = number
            while rest > 0x7F {
                data.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            data.append(UInt8(rest))
        }
        return data
    }

    /// The numbers in a row of bytes, no more than there are bytes; `nil` if the last one is cut off or one is
    /// wider than 64 bits.
    static func numbers(in data: Data) -> [UInt64]? {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        var shift: UInt64 = 0
        for byte in data {
            guard shift < 63 || shift == 63 && byte <= 1 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 {
                numbers.append(number)
                number = 0
                shift = 0
            }
        }
        return shift == 0 ? numbers : nil
    }
}
