/// How to reach servers and how to behave towards them.
package struct RedisSettings: Sendable, Equatable {
    /// Where to begin: one server, some nodes of a cluster, or sentinels.
    package var endpoints: [RedisEndpoint]
    package var credentials: RedisCredentials?
    /// Gives those of each new connection, in place of ``credentials``; `nil` for none.
    package var credentialsProvider: RedisCredentialsProvider?
    /// How the endpoints, which are sentinels, find the server; `nil` if the endpoints are servers.
    package var sentinels: RedisSentinels?
    /// The number of the database; a cluster has only 0.
    package var database = 0
    package var isCluster = false
    package var usesTLS = false
    package var tls = RedisTLSSettings()
    /// The name that `CLIENT LIST` shows; `nil` for none. Printable ASCII without spaces.
    package var clientName: String?
    package var timeouts = RedisTimeouts()
    package var backoff = RedisBackoff()
    package var limits = RedisLimits()
    package var decoding = RedisDecodingLimits()
    /// Sent after the greeting of each new connection, in this order, before any other command. A refusal of one ends
    /// the connection.
    package var preparation: [RedisCommand] = []
    /// Parameters of the URL that the caller has named as its own.
    package var extras: [String: String] = [:]

    package init(endpoints: [RedisEndpoint]) { self.endpoints = endpoints }

    /// The server, or the nodes to begin with, for people.
    package var name: String {
        let list = endpoints.map(\.description).joined(separator: ",")
        return sentinels.map { "\($0.master) (sentinels \(list))" } ?? list
    }
}

package struct RedisTimeouts: Sendable, Equatable {
    /// Until a connection is open and has greeted.
    package var connect: Duration = .seconds(1)
    /// Until a caller is told that there is no answer. The connection stays and drops the answer when it comes.
    package var soft: Duration = .seconds(1)
    /// Until a connection that owes an answer is closed, with all commands on it. At least ``soft``.
    package var hard: Duration = .seconds(5)
    /// How long a caller reads its answer by itself before it sleeps, where the last answers have come in that time; zero
    /// for never. Longer than an answer takes on one machine, and shorter than most networks.
    package var callerReading: Duration = .microseconds(100)
    /// How long a connection may be silent before it is asked for a sign of life.
    package var silence: Duration = .seconds(15)

    package init() {}
}

/// Pauses between attempts to connect: each twice the last, changed by chance so that clients do not come together.
package struct RedisBackoff: Sendable, Equatable {
    package var first: Duration = .milliseconds(50)
    package var longest: Duration = .seconds(5)
    /// The share by which a pause may be longer or shorter.
    package var jitter = 0.2

    package init() {}

    /// The pause after so many failed attempts in a row, at least 1.
    package func pause(
        afterFailures failures: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let pause = min(first * (1 << min(max(failures, 1) - 1, 20)), longest)
        return pause * Double.random(in: (1 - jitter)...(1 + jitter), using: &generator)
    }
}

package struct RedisLimits: Sendable, Equatable {
    /// Commands without an answer on one connection. Further callers wait, without a thread, until there is room.
    package var commands = 10_000
    /// Bytes of commands that have not been written to one connection. One larger command is let through alone.
    package var unwrittenBytes = 64 << 20

    package init() {}
}
