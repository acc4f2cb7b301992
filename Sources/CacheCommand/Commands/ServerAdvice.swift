import KeyedArchive
import TypedCache

/// The remedy for a server that cannot be used.
struct ServerAdvice: CustomStringConvertible {
    let description: String

    /// - Returns: `nil` where the error is about no server, or speaks for itself.
    init?(_ error: CacheError) {
        let rule = Self.rules.first { rule in
            rule.code == error.code && (rule.words.isEmpty || rule.words.contains { error.message.contains($0) })
        }
        guard let rule else { return nil }
        description = rule.advice
    }

    /// The fault and the remedy, if there is one, in one sentence.
    static func sentence(_ fault: String, _ error: CacheError) -> String {
        let text = EscapedText(fault, limit: 1_000).description
        guard let advice = ServerAdvice(error) else { return text }
        return "\(text.hasSuffix(".") ? String(text.dropLast()) : text); \(advice)"
    }

    private struct Rule {
        let code: CacheError.Code
        /// Words of the error's message, one of which is there; none: any message.
        let words: [String]
        let advice: String
    }

    private static let rules = [
        Rule(
            code: .unreachable,
            words: ["WRONGPASS", "NOAUTH", "AUTH"],
            advice: "check user and password in the URL, where %40 stands for @, %2F for / and %3A for :"
        ),
        Rule(
            code: .unreachable,
            words: ["NOPROTO", "RESP3", "HELLO"],
            advice: "the server must be Redis 6.2, Valkey 7.2 or later"
        ),
        Rule(code: .unreachable, words: ["LOADING"], advice: "the server reads its data; try again"),
        Rule(code: .unreachable, words: ["READONLY"], advice: "give the URL of the master"),
        Rule(
            code: .unreachable,
            words: [],
            advice: "see whether the server runs and this machine reaches it: redis-cli -u URL ping"
        ),
        Rule(code: .io, words: ["NOPERM"], advice: "the user needs more rights: docs/operating.md lists them"),
        Rule(
            code: .io,
            words: ["OOM "],
            advice:
                "the server's memory is full: raise its maxmemory, or let it evict (maxmemory-policy allkeys-lfu)"
        ),
        Rule(
            code: .foreign,
            words: [],
            advice: "another program has put it there; remove takes it away, and a save puts the entry in its place"
        ),
    ]
}
