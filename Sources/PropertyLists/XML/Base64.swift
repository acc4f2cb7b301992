/// Base64 with white space in it.
enum Base64 {
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        for byte in [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D] { values[byte] = 0xFE }
        values[0x3D] = 0xFD
        return values
    }()

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func decode(
        _ source: ByteView,
        _ range: Range<Int>,
        into output: inout ByteOutput
    ) throws(PropertyListError) {
        let values = values
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        for at in range {
            let value = values[Int(source[at])]
            if value < 64 {
                guard padding == 0 else {
                    throw PropertyListError(.corrupted, "base64 behind its padding", offset: at)
                }
                group = group << 6 | UInt32(value)
                digits &+= 1
                if digits == 4 {
                    output.append(UInt8(truncatingIfNeeded: group >> 16))
                    output.append(UInt8(truncatingIfNeeded: group >> 8))
                    output.append(UInt8(truncatingIfNeeded: group))
                    digits = 0
                    group = 0
                }
            } else if value == 0xFD {
                padding &+= 1
            } else if value == 0xFF {
                throw PropertyListError(.corrupted, "character that is not in base64", offset: at)
            }
        }
        guard digits != 1, digits == 0 ? padding == 0 : digits + padding == 4 else {
            throw PropertyListError(.corrupted, "base64 of an impossible length", offset: range.lowerBound)
        }
        if digits == 2 { output.append(UInt8(truncatingIfNeeded: group >> 4)) }
        if digits == 3 {
            output.append(UInt8(truncatingIfNeeded: group >> 10))
            output.append(UInt8(truncatingIfNeeded: group >> 2))
        }
    }

    static func encode(
        _ bytes: ByteView,
        into output: inout ByteOutput,
        groupsPerLine: Int,
        indent: Int
    ) {
        let alphabet = alphabet
        var at = bytes.startIndex
        var groups = 0
        while at < bytes.endIndex {
            if groups == 0 { output.append(0x09, times: indent) }
            let left = bytes.endIndex &- at
            let first = UInt32(bytes[at])
            let second = left > 1 ? UInt32(bytes[at &+ 1]) : 0
            let third = left > 2 ? UInt32(bytes[at &+ 2]) : 0
            let group = first << 16 | second << 8 | third
            output.append(alphabet[Int(group >> 18)])
            output.append(alphabet[Int(group >> 12 & 63)])
            output.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : 0x3D)
            output.append(left > 2 ? alphabet[Int(group & 63)] : 0x3D)
            at &+= 3
            groups &+= 1
            if groups == groupsPerLine || at >= bytes.endIndex {
                if groupsPerLine < Int.max { output.append(0x0A) }
                groups = 0
            }
        }
    }
}
