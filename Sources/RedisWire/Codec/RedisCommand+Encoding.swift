extension RedisCommand {
    /// Appends the command as servers read it: an array of bulk strings. Arguments are copied once, into `buffer`.
    package func encode(into buffer: inout [UInt8]) {
        Self.appendHeader(UInt8(ascii: "*"), arguments.count, to: &buffer)
        for argument in arguments {
            switch argument {
            case .bytes(let bytes):
                Self.appendHeader(UInt8(ascii: "$"), bytes.count, to: &buffer)
                buffer.append(contentsOf: bytes)
            case .text(var text):
                text.withUTF8 {
                    Self.appendHeader(UInt8(ascii: "$"), $0.count, to: &buffer)
                    buffer.append(contentsOf: $0)
                }
            case .integer(let number):
                Self.appendHeader(UInt8(ascii: "$"), Self.length(of: number), to: &buffer)
                Self.append(number, to: &buffer)
            }
            buffer.append(UInt8(ascii: "\r"))
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    /// No fewer than the bytes of the command as servers read it.
    package var encodedByteBound: Int {
        // Each argument has a length of up to 19 digits, a sign before it, and two ends of lines.
        arguments.reduce(24) { sum, argument in
            switch argument {
            case .bytes(let bytes): sum + bytes.count + 24
            case .text(let text): sum + text.utf8.count + 24
            case .integer: sum + 20 + 24
            }
        }
    }

    private static func appendHeader(_ type: UInt8, _ number: Int, to buffer: inout [UInt8]) {
        buffer.append(type)
        append(number, to: &buffer)
        buffer.append(UInt8(ascii: "\r"))
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Decimal digits, written from the last to the first.
    private static func append(_ number: Int, to buffer: inout [UInt8]) {
        let start = buffer.count
        let length = length(of: number)
        buffer.append(contentsOf: repeatElement(UInt8(ascii: "-"), count: length))
        var rest = number.magnitude
        let first = start + (number < 0 ? 1 : 0)
        for index in stride(from: start + length - 1, through: first, by: -1) {
            buffer[index] = 0x30 + UInt8(rest % 10)
            rest /= 10
        }
    }

    private static func length(of number: Int) -> Int {
        var length = number < 0 ? 2 : 1
        var rest = number.magnitude / 10
        while rest > 0 {
            length += 1
            rest /= 10
        }
        return length
    }
}
