import RedisWire
import TestSupport
import Testing

@Suite("RESP3")
struct DecoderTests {
    /// All values and the error of a stream that comes in parts.
    static func decode(
        _ parts: [[UInt8]],
        limits: RedisDecodingLimits = RedisDecodingLimits(),
        keepsAttributes: Bool = true
    ) -> (values: [RedisValue], error: RedisDecodingError?, isWhole: Bool) {
        var decoder = RedisDecoder(limits: limits, keepsAttributes: keepsAttributes)
        var values: [RedisValue] = []
        do throws(RedisDecodingError) {
            for part in parts {
                decoder.append(part)
                while let value = try decoder.next() { values.append(value) }
            }
        } catch {
            return (values, error, false)
        }
        return (values, nil, decoder.isAtBoundary)
    }

    static func decode(_ text: String, limits: RedisDecodingLimits = RedisDecodingLimits()) -> RedisValue? {
        decode([Array(text.utf8)], limits: limits).values.first
    }

    static func error(_ text: String, limits: RedisDecodingLimits = RedisDecodingLimits()) -> RedisDecodingError? {
        decode([Array(text.utf8)], limits: limits).error
    }

    @Test("Each type of the specification is read as it says")
    func types() {
        #expect(Self.decode("+OK\r\n") == .simple("OK"))
        #expect(Self.decode("-MOVED 1 h:1\r\n") == .error(RedisReplyError(message: "MOVED 1 h:1")))
        #expect(RedisReplyError(message: "MOVED 1 h:1").code == "MOVED")
        #expect(Self.decode(":-9223372036854775808\r\n") == .integer(.min))
        #expect(Self.decode(":+7\r\n") == .integer(7))
        #expect(Self.decode("$5\r\nhe\r\no\r\n") == .bulk(Array("he\r\no".utf8)))
        #expect(Self.decode("$0\r\n\r\n") == .bulk([]))
        #expect(Self.decode("$-1\r\n") == .null)
        #expect(Self.decode("*-1\r\n") == .null)
        #expect(Self.decode("_\r\n") == .null)
        #expect(Self.decode(",1.5e3\r\n") == .double(1500))
        #expect(Self.decode(",-inf\r\n") == .double(-.infinity))
        if case .double(let number) = Self.decode(",nan\r\n") {
            #expect(number.isNaN)
        } else {
            Issue.record("no nan")
        }
        #expect(Self.decode("#f\r\n") == .boolean(false))
        #expect(Self.decode("!5\r\nERR x\r\n") == .error(RedisReplyError(message: "ERR x")))
        #expect(Self.decode("=7\r\nmkd:abc\r\n") == .verbatim(format: "mkd", Array("abc".utf8)))
        #expect(Self.decode("(-349\r\n") == .bigNumber("-349"))
        #expect(Self.decode("*2\r\n:1\r\n*0\r\n") == .array([.integer(1), .array([])]))
        #expect(Self.decode("~1\r\n#t\r\n") == .set([.boolean(true)]))
        #expect(Self.decode("%1\r\n+a\r\n:1\r\n")?.field("a") == .integer(1))
        #expect(Self.decode(">2\r\n+a\r\n:1\r\n") == .push([.simple("a"), .integer(1)]))
        #expect(Self.decode("$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n") == .bulk(Array("Hello".utf8)))
        #expect(Self.decode("*?\r\n:1\r\n%?\r\n+a\r\n:2\r\n.\r\n.\r\n")?.elements?.count == 2)
    }

    @Test("Attributes belong to the next value, or are left out")
    func attributes() {
        let bytes = Array("|1\r\n+ttl\r\n:9\r\n*2\r\n|1\r\n+a\r\n:1\r\n:5\r\n:6\r\n+next\r\n".utf8)
        let pair = RedisPair(key: .simple("ttl"), value: .integer(9))
        let inner = RedisPair(key: .simple("a"), value: .integer(1))
        #expect(
            Self.decode([bytes]).values == [
                .attributed([pair], .array([.attributed([inner], .integer(5)), .integer(6)])), .simple("next"),
            ]
        )
        #expect(
            Self.decode([bytes], keepsAttributes: false).values == [
                .array([.integer(5), .integer(6)]), .simple("next"),
            ]
        )
    }

    @Test("Any value, streamed or not and cut anywhere, is read as it was written", arguments: seeds(0..<300))
    func roundTrip(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        var values: [RedisValue] = []
        var bytes: [UInt8] = []
        for _ in 0..<4 {
            let value = ValueTree.random(using: &generator)
            values.append(value)
            bytes += ValueWriter.encode(value) { Int.random(in: 0..<4, using: &generator) == 0 }
        }
        let whole = Self.decode([bytes])
        #expect(whole.values == values && whole.isWhole, "seed \(seed)")
        let single = Self.decode(bytes.map { [$0] })
        #expect(single.values == values && single.isWhole, "seed \(seed), byte by byte")
        for cut in bytes.indices {
            let parts = Self.decode([Array(bytes[..<cut]), Array(bytes[cut...])])
            if parts.values != values { Issue.record("seed \(seed), cut at \(cut)") }
        }
    }

    @Test(
        "Each flipped bit gives values or an error with its place, the same however the stream is cut",
        arguments: seeds(0..<60)
    )
    func bitFlips(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        let bytes = ValueWriter.encode(ValueTree.random(using: &generator, depth: 3)) { false }
        var limits = RedisDecodingLimits()
        limits.stringLength = 4_096
        limits.elements = 4_096
        for bit in 0..<(8 * bytes.count) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let whole = Self.decode([changed], limits: limits)
            let single = Self.decode(changed.map { [$0] }, limits: limits)
            let isSame =
                whole.values.flatMap { ValueWriter.encode($0) } == single.values.flatMap { ValueWriter.encode($0) }
            if !isSame || whole.error != single.error { Issue.record("seed \(seed), bit \(bit)") }
            if let error = whole.error, error.offset > UInt64(changed.count) {
                Issue.record("offset of bit \(bit)")
            }
        }
    }

    @Test(
        "Wrong tokens are refused with their offset",
        arguments: [
            ("+OK\r\n?\r\n", 5), (":1x\r\n", 0), (":\r\n", 0), ("#x\r\n", 0), ("_x\r\n", 0), ("(12a\r\n", 0),
            (",0x10\r\n", 0), (",\r\n", 0), ("$-2\r\n", 0), ("$1\r\nab\r\n", 0), ("$+1\r\na\r\n", 0),
            ("+a\rb\r\n", 0),
            ("+a\n", 0), ("=3\r\ntxt\r\n", 0), ("=5\r\ntxt;a\r\n", 0), ("*1\r\n>1\r\n", 4), (">0\r\n", 0),
            (">?\r\n", 0),
            ("|?\r\n", 0), ("%-1\r\n", 0), (".\r\n", 0), ("*1\r\n.\r\n", 4), ("%?\r\n+a\r\n.\r\n", 8),
            ("*?\r\n|1\r\n+a\r\n+b\r\n.\r\n", 16), ("$?\r\n+a\r\n", 4), ("*?\r\n.x\r\n", 4),
        ]
    )
    func malformed(stream: String, offset: UInt64) {
        let error = Self.error(stream)
        #expect(
            error?.code == .malformed && error?.offset == offset,
            "\(stream.debugDescription): \(String(describing: error))"
        )
    }

    @Test("Limits hold before memory is taken")
    func limits() {
        var limits = RedisDecodingLimits()
        limits.depth = 3
        limits.stringLength = 10
        limits.lineLength = 20
        limits.elements = 6
        limits.totalLength = 15
        #expect(Self.error("$11\r\n", limits: limits)?.code == .tooLarge)
        #expect(Self.error("$999999999999999999\r\n")?.code == .tooLarge)
        #expect(Self.error("$9999999999999999999\r\n")?.code == .malformed)
        #expect(Self.error("*999999999999999999\r\n")?.code == .tooLarge)
        #expect(Self.error("%999999999999999999\r\n")?.code == .tooLarge)
        #expect(Self.error("*2\r\n*3\r\n:1\r\n:1\r\n:1\r\n*2\r\n", limits: limits)?.code == .tooLarge)
        #expect(Self.error("*?\r\n" + String(repeating: ":1\r\n", count: 7), limits: limits)?.code == .tooLarge)
        #expect(Self.error("*1\r\n*1\r\n*1\r\n*1\r\n", limits: limits)?.code == .tooDeep)
        #expect(Self.error("*2\r\n$8\r\n12345678\r\n$8\r\n", limits: limits)?.code == .tooLarge)
        #expect(Self.error("$?\r\n;8\r\n12345678\r\n;3\r\n", limits: limits)?.code == .tooLarge)
        #expect(Self.error("+" + String(repeating: "a", count: 30), limits: limits)?.code == .tooLarge)
        // Sums begin again with each value of the outermost level.
        #expect(
            Self.decode([Array(String(repeating: "$8\r\n12345678\r\n", count: 9).utf8)], limits: limits).values
                .count == 9
        )
    }

    @Test("After an error a decoder gives no more values")
    func staysBroken() throws {
        var decoder = RedisDecoder()
        decoder.append(Array("?".utf8))
        #expect(throws: RedisDecodingError.self) { try decoder.next() }
        decoder.append(Array("+OK\r\n".utf8))
        #expect(throws: RedisDecodingError.self) { try decoder.next() }
    }

    @Test("A command is an array of bulk strings")
    func commands() {
        func encoded(_ command: RedisCommand) -> String {
            String(decoding: RedisCommand.bytes(of: [command]), as: UTF8.self)
        }
        #expect(encoded(["GET", "é"]) == "*2\r\n$3\r\nGET\r\n$2\r\né\r\n")
        #expect(
            encoded(["A", .bytes([]), -10, 0, .integer(.min)])
                == "*5\r\n$1\r\nA\r\n$0\r\n\r\n$3\r\n-10\r\n$1\r\n0\r\n$20\r\n-9223372036854775808\r\n"
        )
    }

    @Test("Commands follow one another, and their numbers have any length")
    func numbers() {
        var numbers = [0, .max, .min, 7, -7]
        for length in 1..<19 {
            numbers += [Int("1" + String(repeating: "0", count: length)) ?? 0].flatMap {
                [$0, $0 - 1, -$0, 1 - $0]
            }
        }
        let commands = numbers.map { RedisCommand([.integer($0)]) } + [RedisCommand(numbers.map { .integer($0) })]
        let values = Self.decode([RedisCommand.bytes(of: commands)]).values
        let texts = numbers.map { RedisValue.bulk(Array(String($0).utf8)) }
        #expect(values == texts.map { .array([$0]) } + [.array(texts)])
    }

    @Test("Any command is read by the decoder as it was given", arguments: seeds(0..<50))
    func commandsRoundTrip(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        let arguments = (0..<Int.random(in: 1..<9, using: &generator)).map { _ in
            generator.bytes(Int.random(in: 0..<200, using: &generator))
        }
        let buffer = RedisCommand.bytes(of: [RedisCommand(arguments.map { .bytes($0) })])
        #expect(Self.decode([buffer]).values == [.array(arguments.map { .bulk($0) })])
    }
}
