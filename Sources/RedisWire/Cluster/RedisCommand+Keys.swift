extension RedisCommand {
    /// Where a command belongs in a cluster.
    enum Place: Equatable {
        /// At the node that has this slot.
        case slot(HashSlot)
        /// At any node: the command names no key.
        case anywhere
        /// Nowhere; the refusal that takes the place of an answer.
        case nowhere(RedisReplyError)
    }

    /// The place of a command, by its keys. All commands for strings, lists, sets, hashes and sorted sets are known whose
    /// key is the first argument, and scripts; a command that has its keys elsewhere, such as `XREAD`, is not for
    /// clusters.
    var place: Place {
        let name = name.uppercased()
        if Self.transactions.contains(name) {
            return .nowhere(RedisReplyError(message: "ERR \(name) is not possible on connections that tasks share"))
        }
        var slot: HashSlot?
        for key in keys(ofCommandNamed: name) {
            let found = HashSlot(ofKey: key.encoded)
            if let slot, slot != found {
                return .nowhere(RedisReplyError(message: "CROSSSLOT Keys in request don't hash to the same slot"))
            }
            slot = found
        }
        return slot.map { .slot($0) } ?? .anywhere
    }

    /// The names of the keys that the command names.
    var keys: [[UInt8]] { keys(ofCommandNamed: name.uppercased()).map(\.encoded) }

    private func keys(ofCommandNamed name: String) -> ArraySlice<Argument> {
        if Self.keyless.contains(name) { return [] }
        if Self.scripts.contains(name) {
            guard arguments.count > 2, let count = arguments[2].number, (0...arguments.count - 3).contains(count)
            else {
                return []
            }
            return arguments[3..<3 + count]
        }
        if Self.lists.contains(name) { return arguments.dropFirst() }
        return arguments.dropFirst(Self.containers.contains(name) ? 2 : 1).prefix(1)
    }

    private static let transactions: Set = ["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"]
    private static let scripts: Set = ["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"]
    /// All arguments are keys.
    private static let lists: Set = ["DEL", "UNLINK", "EXISTS", "TOUCH", "MGET"]
    /// The key is behind a subcommand.
    private static let containers: Set = ["OBJECT", "MEMORY", "XINFO", "XGROUP"]
    private static let keyless: Set = [
        "ACL", "ASKING", "AUTH", "BGSAVE", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "DEBUG", "ECHO",
        "FLUSHALL", "FLUSHDB", "FUNCTION", "HELLO", "INFO", "KEYS", "LASTSAVE", "LATENCY", "PING", "PUBLISH",
        "RANDOMKEY", "READONLY", "READWRITE", "ROLE", "SCAN", "SCRIPT", "SELECT", "SLOWLOG", "TIME", "WAIT",
    ]
}

extension RedisCommand.Argument {
    /// The bytes as they are sent.
    var encoded: [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .integer(let number): Array(String(number).utf8)
        }
    }

    fileprivate var number: Int? {
        if case .integer(let number) = self { number } else { Int(String(decoding: encoded, as: UTF8.self)) }
    }
}
