import RedisWire
import TestSupport

/// Values by seeds.
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
