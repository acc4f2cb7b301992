import RedisWire

@testable import RedisWire

/// Answers of nodes, made up.
enum ClusterAnswers {
    static func node(_ number: Int) -> RedisEndpoint { .tcp(host: "node\(number)", port: 7000) }

    static func address(_ host: RedisValue, _ port: Int64 = 7000) -> RedisValue {
        .array([host, .integer(port), .bulk(Array("id".utf8)), .array([])])
    }

    static func range(_ first: Int64, _ last: Int64, nodes: RedisValue...) -> RedisValue {
        .array([.integer(first), .integer(last)] + nodes)
    }

    static func text(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }

    /// Masters that share the slots evenly, by number.
    static func topology(masters: Int, others: [Int] = [], epoch: Int = 1) throws -> ClusterTopology {
        let ranges = (0..<masters).map { number in
            let first = Int64(number * HashSlot.count / masters)
            let last = Int64((number + 1) * HashSlot.count / masters - 1)
            return range(first, last, nodes: address(text("node\(number)")))
        }
        let lines = others.map { "id node\($0):7000@17000 master - 0 0 1 connected" }.joined(separator: "\n")
        let information = "cluster_state:ok\r\ncluster_current_epoch:\(epoch)\r\n"
        return try ClusterTopology([.array(ranges), text(lines), text(information)], toldBy: node(0))
    }
}
