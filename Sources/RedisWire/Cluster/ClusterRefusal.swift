/// A node's refusal of a command that another node, or the same one a little later, would execute. The command was not
/// executed.
enum ClusterRefusal: Equatable {
    /// The slot is another node's.
    case moved(HashSlot, RedisEndpoint)
    /// The slot is on its way to another node, which may have the key already.
    case ask(RedisEndpoint)
    /// The node cannot execute the command now: some of its keys are on their way to another node, say.
    case notNow
    /// The node, or the cluster as the node sees it, is not up.
    case down

    /// - Parameter node: the node that has refused. Its own host is meant where an address has none.
    /// - Returns: `nil` for any other value.
    init?(_ value: RedisValue, by node: RedisEndpoint) {
        guard case .error(let error) = value else { return nil }
        switch error.code {
        case "MOVED", "ASK":
            let words = error.message.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, let slot = Int(words[1]).flatMap({ HashSlot(number: $0) }),
                let endpoint = RedisEndpoint(clusterAddress: words[2], toldBy: node)
            else { return nil }
            self = words[0] == "MOVED" ? .moved(slot, endpoint) : .ask(endpoint)
        case "TRYAGAIN": self = .notNow
        case "CLUSTERDOWN", "LOADING", "MASTERDOWN": self = .down
        default: return nil
        }
    }
}
