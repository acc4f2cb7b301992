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
        let form = form
        if form == .transaction {
            let refusal = "ERR \(name.uppercased()) is not possible on connections that tasks share"
            return .nowhere(RedisReplyError(message: refusal))
        }
        var slot: HashSlot?
        for key in keys(of: form) {
            let found = key.hashSlot
            if let slot, slot != found {
                return .nowhere(RedisReplyError(message: "CROSSSLOT Keys in request don't hash to the same slot"))
            }
            slot = found
        }
        return slot.map { .slot($0) } ?? .anywhere
    }

    /// The names of the keys that the command names.
    var keys: [[UInt8]] { keys(of: form).map(\.encoded) }

    private func keys(of form: Form) -> ArraySlice<Argument> {
        switch form {
        case .transaction, .keyless: return []
        case .script:
            guard arguments.count > 2, let count = arguments[2].number, (0...arguments.count - 3).contains(count)
            else {
                return []
            }
            return arguments[3..<3 + count]
        case .list: return arguments.dropFirst()
        case .container: return arguments.dropFirst(2).prefix(1)
        case .plain: return arguments.dropFirst().prefix(1)
        }
    }

    /// Where a command has its keys.
    private enum Form {
        /// The key is the first argument.
        case plain
        /// All arguments are keys.
        case list
        /// The key is after a subcommand.
        case container
        /// The keys are counted.
        case script
        case keyless
        /// It has none, and cannot be sent.
        case transaction
    }

    private var form: Form { Self.forms[name.uppercased()] ?? .plain }

    /// The commands that are not plain ones. One table, since each command of each call is looked up.
    private static let forms: [String: Form] = {
        let names: [Form: [String]] = [
            .transaction: ["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"],
            .script: ["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"],
            .list: ["DEL", "UNLINK", "EXISTS", "TOUCH", "MGET"],
            .container: ["OBJECT", "MEMORY", "XINFO", "XGROUP"],
            .keyless: [
                "ACL", "ASKING", "AUTH", "BGSAVE", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "DEBUG",
                "ECHO", "FLUSHALL", "FLUSHDB", "FUNCTION", "HELLO", "INFO", "KEYS", "LASTSAVE", "LATENCY", "PING",
                "PUBLISH", "RANDOMKEY", "READONLY", "READWRITE", "ROLE", "SCAN", "SCRIPT", "SELECT", "SLOWLOG",
                "TIME", "WAIT",
            ],
        ]
        return Dictionary(uniqueKeysWithValues: names.flatMap { form, names in names.map { ($0, form) } })
    }()
}

extension RedisCommand.Argument {
    /// The slot of the key that the argument is.
    fileprivate var hashSlot: HashSlot {
        switch self {
        case .bytes(let bytes): HashSlot(ofKey: bytes)
        case .text(var text): text.withUTF8 { HashSlot(ofKey: $0) }
        case .integer: HashSlot(ofKey: encoded)
        }
    }

    fileprivate var number: Int? {
        if case .integer(let number) = self { number } else { Int(String(decoding: encoded, as: UTF8.self)) }
    }
}
