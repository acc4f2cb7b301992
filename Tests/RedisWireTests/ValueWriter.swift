#if canImport(RedisWireSources)
    // The fuzzer's package has the sources under this name, since no two packages may have a module of one name.
    import RedisWireSources
#else
    import RedisWire
#endif

/// Writes values as servers do; shares nothing with the decoder. The fuzzer of RESP3 has a link to this file.
enum ValueWriter {
    /// The bytes of a value; aggregates and strings are streamed where `streams` says so.
    static func encode(_ value: RedisValue, streams: () -> Bool = { false }) -> [UInt8] {
        func line(_ text: String) -> [UInt8] { Array((text + "\r\n").utf8) }
        func aggregate(_ type: String, count: Int, _ items: [RedisValue], canStream: Bool = true) -> [UInt8] {
            let isStreamed = canStream && streams()
            let body = items.flatMap { encode($0, streams: streams) }
            return isStreamed ? line(type + "?") + body + line(".") : line(type + String(count)) + body
        }
        func flat(_ pairs: [RedisPair]) -> [RedisValue] { pairs.flatMap { [$0.key, $0.value] } }
        switch value {
        case .null: return line("_")
        case .simple(let text): return line("+" + text)
        case .error(let error):
            let message = Array(error.message.utf8)
            guard message.contains(where: { $0 == 13 || $0 == 10 }) else { return line("-" + error.message) }
            return line("!\(message.count)") + message + line("")
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
        case .array(let items): return aggregate("*", count: items.count, items)
        case .set(let items): return aggregate("~", count: items.count, items)
        case .push(let items): return aggregate(">", count: items.count, items, canStream: false)
        case .map(let pairs): return aggregate("%", count: pairs.count, flat(pairs))
        case .attributed(let pairs, let value):
            return aggregate("|", count: pairs.count, flat(pairs), canStream: false)
                + encode(value, streams: streams)
        }
    }
}
