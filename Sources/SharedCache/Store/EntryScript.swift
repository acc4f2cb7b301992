import RedisWire

/// Changes an entry if it is the very one that was seen.
///
/// Sent whole each time: the engine keeps scripts that it has seen, and one that it has lost by a restart needs no second
/// attempt. An entry is known by its last bytes; none, or another kind of value, has none.
enum EntryScript {
    private static let ifSame = """
        local e=redis.pcall('GETRANGE',KEYS[1],-59,-1) if type(e)=='table' then e='' end if e~=ARGV[1] then return 0 end 
        """

    /// - Parameter expected: the last bytes of the entry that was seen; empty for none.
    static func save(
        _ name: String,
        ifEnding expected: [UInt8],
        _ entry: [UInt8],
        lifetime: Lifetime
    ) -> RedisCommand {
        let words: [RedisCommand.Argument] = [.text(name), .bytes(expected), .bytes(entry)]
        guard let milliseconds = lifetime.milliseconds else {
            return command(ifSame + "redis.call('SET',KEYS[1],ARGV[2]) return 1", words)
        }
        return command(
            ifSame + "redis.call('SET',KEYS[1],ARGV[2],'PX',ARGV[3]) return 1",
            words + [.integer(milliseconds)]
        )
    }

    static func remove(_ name: String, ifEnding expected: [UInt8]) -> RedisCommand {
        command(ifSame + "return redis.call('DEL',KEYS[1])", [.text(name), .bytes(expected)])
    }

    /// Puts another end in the place of the one that was seen.
    static func replaceEnd(
        of name: String,
        _ expected: [UInt8],
        by end: [UInt8],
        lifetime: Lifetime
    ) -> RedisCommand {
        let write = "redis.call('SETRANGE',KEYS[1],redis.call('STRLEN',KEYS[1])-#ARGV[2],ARGV[2]) "
        let words: [RedisCommand.Argument] = [.text(name), .bytes(expected), .bytes(end)]
        guard let milliseconds = lifetime.milliseconds else {
            return command(ifSame + write + "redis.call('PERSIST',KEYS[1]) return 1", words)
        }
        return command(
            ifSame + write + "redis.call('PEXPIRE',KEYS[1],ARGV[3]) return 1",
            words + [.integer(milliseconds)]
        )
    }

    private static func command(_ script: String, _ words: [RedisCommand.Argument]) -> RedisCommand {
        RedisCommand(["EVAL", .text(script), 1] + words)
    }
}
