import RedisWire
import TestSupport

/// Values by seeds, and a writer of them that shares nothing with the decoder.
enum ValueTree {
    static func random(using generator: inout SeededGenerator, depth: Int = 4) -> RedisValue {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 9), using: &generator) {
        case 0: return .null
        case 1: return .simple(text(&generator))
        case 2: return .error(RedisReplyError(message: text(&generator)))
        case 3: return .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
        case 4: return .boolean(Bool.random(using: &generator))
        case 5: return .double(Double.random(in: -1e9...1e9, using: &generator))
        case 6:
            return .bigNumber((Bool.random(using: &generator) ? "-" : "") + "9" + String(generator.next()) + "00")
        case 7: return .bulk(generator.bytes(Int.random(in: 0..<40, using: &generator)))
        case 8: return .verbatim(format: "txt", generator.bytes(Int.random(in: 0..<9, using: &generator)))
        case 9, 10: return .array(list(&generator, depth))
        case 11: return .set(list(&generator, depth))
        case 12: return .map(pairs(&generator, depth))
        default:
            let value = random(using: &generator, depth: depth - 1)
            let attributes = pairs(&generator, depth)
            if case .attributed = value { return value }
            return attributes.isEmpty ? value : .attributed(attributes, value)
        }
    }

    /// The bytes of a value; aggregates and strings are streamed where `streams` says so.
    static func encode(_ value: RedisValue, streams: () -> Bool = { false }) -> [UInt8] {
        func line(_ text: String) -> [UInt8] { Array((text + "\r\n").utf8) }
        func aggregate(_ type: String, _ count: Int, _ items: [RedisValue], canStream: Bool = true) -> [UInt8] {
            let isStreamed = canStream && streams()
            let body = items.flatMap { encode($0, streams: streams) }
            return isStreamed ? line(type + "?") + body + line(".") : line(type + String(count)) + body
        }
        func flat(_ pairs: [RedisPair]) -> [RedisValue] { pairs.flatMap { [$0.key, $0.value] } }
        switch value {
        case .null: return line("_")
        case .simple(let text): return line("+" + text)
        case .error(let error): return line("-" + error.message)
        case .integer(let number): return line(":\(number)")
        case .boolean(let flag): return line(flag ? "#t" : "#f")
        case .double(let number): return line(",\(number)")
        case .bigNumber(let digits): return line("(" + digits)
        case .bulk(let bytes):
            guard streams() else { return line("$\(bytes.count)") + bytes + line("") }
            let half = bytes.count / 2
            let chunks = [bytes[..<half], bytes[half...]].filter { !$0.isEmpty }
            return line("$?") + chunks.flatMap { line(";\($0.count)") + $0 + line("") } + line(";0")
        case .verbatim(let format, let bytes):
            return line("=\(bytes.count + 4)") + Array("\(format):".utf8) + bytes + line("")
        case .array(let items): return aggregate("*", items.count, items)
        case .set(let items): return aggregate("~", items.count, items)
        case .push(let items): return aggregate(">", items.count, items, canStream: false)
        case .map(let pairs): return aggregate("%", pairs.count, flat(pairs))
        case .attributed(let pairs, let value):
            return aggregate("|", pairs.count, flat(pairs), canStream: false) + encode(value, streams: streams)
        }
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0..<12, using: &generator)).map { _ in "ab 9é:$*".randomElement(using: &generator)!
            }
        )
    }

    private static func list(_ generator: inout SeededGenerator, _ depth: Int) -> [RedisValue] {
        (0..<Int.random(in: 0..<5, using: &generator)).map { _ in random(using: &generator, depth: depth - 1) }
    }

    private static func pairs(_ generator: inout SeededGenerator, _ depth: Int) -> [RedisPair] {
        (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
            RedisPair(
                key: random(using: &generator, depth: depth - 1),
                value: random(using: &generator, depth: depth - 1)
            )
        }
    }
}
