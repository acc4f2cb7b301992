extension RedisEndpoint {
    /// Reads `host:port` as nodes write it: without brackets, and without a host where they mean their own.
    ///
    /// - Returns: `nil` for anything else.
    init?(clusterAddress text: Substring, toldBy node: RedisEndpoint) {
        guard let colon = text.lastIndex(of: ":"),
            let endpoint = RedisEndpoint(
                clusterHost: text[..<colon],
                port: Int(text[text.index(after: colon)...]),
                toldBy: node
            )
        else { return nil }
        self = endpoint
    }

    /// - Parameter host: none means that of the node that told it; `?` means that the node does not know it.
    /// - Returns: `nil` for a host or port that cannot be one.
    init?(clusterHost host: Substring, port: Int?, toldBy node: RedisEndpoint) {
        guard let port = port.flatMap({ UInt16(exactly: $0) }), port > 0 else { return nil }
        var host = String(host)
        if host.isEmpty {
            guard case .tcp(let own, _) = node else { return nil }
            host = own
        }
        guard host != "?", host.utf8.count <= 253, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self = .tcp(host: host, port: port)
    }
}
