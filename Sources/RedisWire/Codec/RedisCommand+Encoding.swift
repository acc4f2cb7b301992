extension RedisCommand {
    /// Commands as servers read them: arrays of bulk strings. Arguments are copied once, into memory of their size.
    ///
    /// Unsafe code, and why it is sound: each part of a command is written behind a check that there is room for it.
    package static func bytes(of commands: [RedisCommand]) -> [UInt8] {
        let bound = commands.reduce(0) { $0 + $1.encodedByteBound }
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            var output = Output(buffer: buffer)
            for command in commands {
                output.appendHeader(UInt8(ascii: "*"), command.arguments.count)
                for argument in command.arguments { output.append(argument) }
            }
            count = output.count
        }
    }

    /// No fewer than the bytes of the command as servers read it.
    private var encodedByteBound: Int {
        arguments.reduce(Output.headerBound) { sum, argument in
            switch argument {
            case .bytes(let bytes): sum + bytes.count + Output.headerBound
            case .text(let text): sum + text.utf8.count + Output.headerBound
            case .integer: sum + 20 + Output.headerBound
            }
        }
    }

    private struct Output {
        /// The bytes of a length of up to 19 digits, its type, and two ends of lines.
        static let headerBound = 24

        let buffer: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

        private func checkRoom(for more: Int) {
            precondition(more <= buffer.count - count, "commands have more bytes than they were counted to have")
        }

        mutating func append(_ argument: Argument) {
            switch argument {
            case .bytes(let bytes): bytes.withUnsafeBufferPointer { append($0) }
            case .text(var text): text.withUTF8 { append($0) }
            case .integer(let number):
                appendHeader(UInt8(ascii: "$"), RedisCommand.length(of: number))
                checkRoom(for: 22)
                appendDigits(number)
                appendEnd()
            }
        }

        private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
            appendHeader(UInt8(ascii: "$"), bytes.count)
            checkRoom(for: bytes.count + 2)
            if let start = bytes.baseAddress {
                (buffer.baseAddress! + count).update(from: start, count: bytes.count)
            }
            count += bytes.count
            appendEnd()
        }

        mutating func appendHeader(_ type: UInt8, _ number: Int) {
            checkRoom(for: Self.headerBound - 2)
            buffer[count] = type
            count += 1
            appendDigits(number)
            appendEnd()
        }

        /// Decimal digits, written from the last to the first.
        private mutating func appendDigits(_ number: Int) {
            let length = RedisCommand.length(of: number)
            var rest = number.magnitude
            var place = count + length
            repeat {
                place -= 1
                buffer[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 { buffer[count] = UInt8(ascii: "-") }
            count += length
        }

        private mutating func appendEnd() {
            buffer[count] = UInt8(ascii: "\r")
            buffer[count + 1] = UInt8(ascii: "\n")
            count += 2
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
