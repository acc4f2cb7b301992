/// Sends commands to a server. An app that has a client of its own lets that conform.
///
/// A client has timeouts of its own: each call ends in time, with answers or an error. It sends commands once at most, or
/// again if they are ``RedisCommand/isRepeatable``.
public protocol RedisClient: Sendable {
    /// Sends commands one after another, with no other command in between for the same server, and suspends until all
    /// are answered.
    ///
    /// - Returns: an answer for each command, in their order; a refused one has ``RedisValue/error(_:)``. A client of
    ///   several servers may give an error with code `NOANSWER` for each missing answer, if some are there.
    /// - Throws: ``RedisError`` if answers are missing: for all of the commands, though some may have been executed.
    func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue]

    /// As ``send(_:)``, but waits no longer than for a time. As ``send(_:)`` by default, with the client's own timeout.
    func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue]

    /// As ``send(_:)``, but blocks the calling thread. Must not need a thread of Swift's pool: all of them may be
    /// blocked in this.
    func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue]

    /// The servers that have the keys, for commands that concern the keys of one server, as `SCAN` does. By default the
    /// client itself, as it is for one server; a cluster's client gives one for each master. May block.
    ///
    /// - Throws: ``RedisError`` if that cannot be known now.
    func servers() throws(RedisError) -> RedisServers
}

/// The servers that have a client's keys, each once.
public struct RedisServers: Sendable {
    /// One for each server.
    public let clients: [any RedisClient]
    /// The distribution of the keys: a text that is another one later if keys have moved from one server to another
    /// in the meantime, or a connection has become another one, which may lead to a server that has started again and knows no
    /// cursors; `nil` while keys are moving.
    public let arrangement: String?

    public init(clients: [any RedisClient], arrangement: String?) {
        self.clients = clients
        self.arrangement = arrangement
    }
}

extension RedisClient {
    public func servers() throws(RedisError) -> RedisServers { RedisServers(clients: [self], arrangement: "") }

    public func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue] {
        try await send(commands)
    }

    /// Sends one command. All else is as for several.
    ///
    /// - Throws: ``RedisError``, ``RedisReplyError`` if the server refuses the command.
    public func send(_ command: RedisCommand) async throws -> RedisValue {
        let values = try await send([command])
        guard let value = values.first else { return .null }
        if case .error(let error) = value { throw error }
        return value
    }
}
