import RedisWire

/// The scripts of a shared tier, by their statements: an unknown script stops the test.
struct ModelScripts {
    typealias Statement = (text: String, body: @Sendable (ModelEngine, inout Script) -> RedisValue?)

    /// The statements of each script that was seen.
    private var parsed: [String: [Int]] = [:]

    mutating func run(_ text: String, _ script: Script, on engine: ModelEngine) -> RedisValue {
        let statements = parsed[text] ?? Self.parse(text)
        parsed[text] = statements
        var script = script
        for index in statements {
            if let answer = Self.statements[index].body(engine, &script) { return answer }
        }
        return .null
    }

    /// The statements that scripts are made of. Each returns the script's answer, or `nil` to go on.
    private static let statements: [Statement] = [
        (
            "local e=redis.pcall('GETRANGE',KEYS[1],-59,-1) if type(e)=='table' then e='' end ",
            { engine, script in
                script.end = engine.end(script.keys[0], 59)
                return nil
            }
        ),
        ("if e~=ARGV[1] then return 0 end ", { _, script in script.end == script.words[0] ? nil : .integer(0) }),
        (
            "local t=redis.call('TIME') if t[1]+t[2]/1000000<tonumber(ARGV[2]) then return -1 end ",
            { engine, script in
                let end = Double(String(decoding: script.words[1], as: UTF8.self)) ?? 0
                return Double(engine.events.now + ModelEngine.start) / 1e6 < end ? .integer(-1) : nil
            }
        ),
        (
            "if redis.call('GET',KEYS[2])~=ARGV[1] then return 0 end ",
            { engine, script in engine.item(script.keys[1])?.bytes == script.words[0] ? nil : .integer(0) }
        ),
        (
            "if e~='' and string.sub(e,1,11)~=string.sub(ARGV[4],1,11) then return 0 end ",
            { _, script in
                script.end.isEmpty || script.end.prefix(11) == script.words[3].prefix(11) ? nil : .integer(0)
            }
        ),
        (
            "redis.call('DEL',KEYS[2]) ",
            { engine, script in
                _ = engine.remove(script.keys[1])
                return nil
            }
        ),
        ("return redis.call('DEL',KEYS[1])", { engine, script in .integer(engine.remove(script.keys[0]) ? 1 : 0) }),
        (
            "redis.call('SET',KEYS[1],ARGV[2]) ",
            { engine, script in
                engine.put(script.keys[0], ModelEngine.Item(bytes: script.words[1], end: nil))
                return nil
            }
        ),
        (
            "redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) ",
            { engine, script in
                let end = engine.events.now + script.number(2) * 1_000
                engine.put(script.keys[0], ModelEngine.Item(bytes: script.words[1], end: end))
                return nil
            }
        ),
        (
            "redis.call('SETRANGE',KEYS[1],redis.call('STRLEN',KEYS[1])-#ARGV[2],ARGV[2]) ",
            { engine, script in
                guard let item = engine.item(script.keys[0]) else { return nil }
                let bytes = item.bytes.dropLast(script.words[1].count) + script.words[1]
                engine.move(script.keys[0], ModelEngine.Item(bytes: Array(bytes), end: item.end))
                return nil
            }
        ),
        (
            "redis.call('PERSIST',KEYS[1])",
            { engine, script in
                guard let item = engine.item(script.keys[0]) else { return nil }
                engine.move(script.keys[0], ModelEngine.Item(bytes: item.bytes, end: nil))
                return nil
            }
        ),
        (
            "redis.call('PEXPIRE',KEYS[1],ARGV[3])",
            { engine, script in
                guard let item = engine.item(script.keys[0]) else { return nil }
                let end = engine.events.now + script.number(2) * 1_000
                engine.move(script.keys[0], ModelEngine.Item(bytes: item.bytes, end: end))
                return nil
            }
        ),
        (
            "if #e==59 and string.sub(e,-4)=='TCAE' then local t=redis.call('TIME') "
                + "if struct.unpack('>d',string.sub(e,20,27))>t[1]-978307200+t[2]/1000000 then return {2,e} end end ",
            { engine, script in
                guard script.end.count == 59 else { return nil }
                let bits = script.end[19..<27].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                let now = Double(engine.events.now + ModelEngine.start) / 1e6 - 978_307_200
                return Double(bitPattern: bits) > now ? .array([.integer(2), .bulk(script.end)]) : nil
            }
        ),
        (
            "return {redis.call('SET',KEYS[2],ARGV[1],'NX','PX',ARGV[2]) and 1 or 0,e}",
            { engine, script in
                if engine.item(script.keys[1]) != nil { return .array([.integer(0), .bulk(script.end)]) }
                let end = engine.events.now + script.number(1) * 1_000
                engine.put(script.keys[1], ModelEngine.Item(bytes: script.words[0], end: end))
                return .array([.integer(1), .bulk(script.end)])
            }
        ),
        (" return 1", { _, _ in .integer(1) }),
        ("return 1", { _, _ in .integer(1) }),
        (
            "if redis.call('GET',KEYS[2])==ARGV[1] then return redis.call('PEXPIRE',KEYS[2],ARGV[2]) end return 0",
            { engine, script in
                guard let item = engine.item(script.keys[1]), item.bytes == script.words[0] else {
                    return .integer(0)
                }
                let end = engine.events.now + script.number(1) * 1_000
                engine.put(script.keys[1], ModelEngine.Item(bytes: item.bytes, end: end))
                return .integer(1)
            }
        ),
        (
            "if redis.call('GET',KEYS[2])==ARGV[1] then return redis.call('DEL',KEYS[2]) end return 0",
            { engine, script in
                guard engine.item(script.keys[1])?.bytes == script.words[0] else { return .integer(0) }
                engine.put(script.keys[1], nil)
                return .integer(1)
            }
        ),
    ]

    struct Script {
        let keys: [String]
        let words: [[UInt8]]
        fileprivate(set) var end: [UInt8] = []

        fileprivate func number(_ index: Int) -> Moment {
            Moment(String(decoding: words[index], as: UTF8.self)) ?? 0
        }
    }

    private static func parse(_ text: String) -> [Int] {
        var rest = text[...]
        var found: [Int] = []
        while !rest.isEmpty {
            guard let index = statements.firstIndex(where: { rest.hasPrefix($0.text) }) else {
                preconditionFailure("the model knows no script that goes on with: \(rest)")
            }
            found.append(index)
            rest = rest.dropFirst(statements[index].text.count)
        }
        return found
    }
}
