/// Sentinels: servers that agree on which server is the master of a name, and make a replica the master when that is gone.
///
/// They are asked before each new connection, so a connection that broke, or whose server has become a replica, is followed by
/// one to the new master.
package struct RedisSentinels: Sendable, Equatable {
    /// The name that they know the master by.
    package let master: String
    /// Of the sentinels themselves; `nil` for none. Those of the settings are the master's.
    package var credentials: RedisCredentials?

    package init(master: String, credentials: RedisCredentials? = nil) {
        self.master = master
        self.credentials = credentials
    }

    /// The master's address, as the first sentinel that answers tells it. Blocks; each sentinel has its share of the time to
    /// connect.
    func locate(_ settings: RedisSettings) throws(SocketError) -> RedisEndpoint {
        var own = RedisSettings(endpoints: settings.endpoints)
        own.credentials = credentials
        own.usesTLS = settings.usesTLS
        own.tls = settings.tls
        own.clientName = settings.clientName
        own.timeouts.connect = settings.timeouts.connect / (settings.endpoints.count + 1)
        own.timeouts.soft = own.timeouts.connect
        own.timeouts.hard = own.timeouts.connect
        var failure = SocketError(Self.asking, "there is none")
        for sentinel in settings.endpoints {
            do throws(SocketError) {
                if let found = try ask(sentinel, own) { return found }
                failure = SocketError(Self.asking, "\(sentinel) knows no master \(master)")
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static let asking = "asking sentinels"

    /// - Returns: `nil` if the sentinel does not know the name.
    private func ask(_ sentinel: RedisEndpoint, _ settings: RedisSettings) throws(SocketError) -> RedisEndpoint? {
        let answer: RedisValue?
        do throws(RedisError) {
            let connection = try RedisConnection(to: sentinel, settings: settings)
            defer { connection.close() }
            answer = try connection.sendAndWait([["SENTINEL", "get-master-addr-by-name", .text(master)]]).first
        } catch {
            throw SocketError(Self.asking, error.message)
        }
        if case .error(let error)? = answer {
            throw SocketError(Self.asking, "\(sentinel) refuses: \(error.textWithoutArguments)")
        }
        guard let parts = answer?.elements, parts.count == 2 else { return nil }
        guard let host = parts[0].text, !host.isEmpty, let port = parts[1].text.flatMap({ UInt16($0) }), port > 0
        else { throw SocketError(Self.asking, "\(sentinel) tells an address that can be none") }
        return .tcp(host: host, port: port)
    }
}
