import ArchiveStore
import RedisWire

/// The server, or the cluster, that a tier's entries are on; its failures are a store's.
struct Engine: Sendable {
    private let client: any RedisClient
    let breaker: Breaker
    let counters: TierCounters
    let pace: ServerPace
    /// `nil` if nothing is read from replicas.
    let replicas: ReplicaReader?

    init(
        _ client: any RedisClient,
        _ breaker: Breaker,
        counters: TierCounters = TierCounters(),
        pace: ServerPace = ServerPace(),
        replicas: ReplicaReader? = nil
    ) {
        self.client = client
        self.breaker = breaker
        self.counters = counters
        self.pace = pace
        self.replicas = replicas
    }

    /// See ``AnswerTimes/softTimeout(_:)``.
    func softTimeout(_ timeouts: SharedSettings.Timeouts) -> Duration { pace.current.softTimeout(timeouts) }

    /// Sends commands one after another, and blocks until all are answered.
    ///
    /// - Returns: the answers, in their order, refusals among them: see ``check(_:doing:)``.
    /// - Throws: `.unreachable` if answers are missing; commands may have been executed. `.closed` and `.forked`.
    func ask(_ commands: [RedisCommand], action: String) throws(StoreError) -> [RedisValue] {
        try breaker.check(action)
        let start = HitClock.now
        let answer: Result<[RedisValue], RedisError>
        do throws(RedisError) {
            answer = .success(try client.sendAndWait(commands))
        } catch {
            answer = .failure(error)
        }
        return try values(answer, of: commands, since: start, action: action)
    }

    /// As ``ask(_:action:)``, but suspends.
    ///
    /// - Parameter time: how long to wait at most; `nil` for the client's own timeout.
    func request(
        _ commands: [RedisCommand],
        within time: Duration? = nil,
        action: String
    ) async throws(StoreError) -> [RedisValue] {
        try breaker.check(action)
        let start = HitClock.now
        let answer: Result<[RedisValue], RedisError>
        do throws(RedisError) {
            let values =
                if let time { try await client.send(commands, within: time) } else {
                    try await client.send(commands)
                }
            answer = .success(values)
        } catch {
            answer = .failure(error)
        }
        return try values(answer, of: commands, since: start, action: action)
    }

    /// The servers that have the keys, and the distribution of these, see `RedisServers`.
    func servers(_ action: String) throws(StoreError) -> (engines: [Engine], arrangement: String?) {
        try breaker.check(action)
        do throws(RedisError) {
            let servers = try client.servers()
            return (
                servers.clients.map { Engine($0, breaker, counters: counters, pace: pace) }, servers.arrangement
            )
        } catch {
            throw failure(error, action)
        }
    }

    /// Makes a call, and blocks until it is done.
    func make<Call: EngineCall>(_ call: Call, _ view: SharedView) throws(StoreError) -> Call.Outcome {
        var call = call
        return try make(&call, view)
    }

    /// Makes a call, blocks until it is done, and leaves it as it ended.
    func make<Call: EngineCall>(_ call: inout Call, _ view: SharedView) throws(StoreError) -> Call.Outcome {
        var answers: [RedisValue] = []
        do throws(StoreError) {
            while true {
                switch try call.next(answers, view) {
                case .send(let commands): answers = try ask(commands, action: call.action)
                case .done(let outcome): return outcome
                }
            }
        } catch {
            call.failed(error, view)
            throw error
        }
    }

    /// As ``make(_:_:)``, but suspends.
    ///
    /// - Parameter time: how long each step waits at most; `nil` for the client's own timeout.
    func request<Call: EngineCall>(
        _ call: inout Call,
        _ view: SharedView,
        within time: Duration? = nil
    ) async throws(StoreError) -> Call.Outcome {
        var answers: [RedisValue] = []
        do throws(StoreError) {
            while true {
                switch try call.next(answers, view) {
                case .send(let commands): answers = try await request(commands, within: time, action: call.action)
                case .done(let outcome): return outcome
                }
            }
        } catch {
            call.failed(error, view)
            throw error
        }
    }

    /// Reads this engine's clock, and blocks until it has answered.
    func read(_ offset: ClockOffset) throws(StoreError) {
        try offset.read { commands throws(StoreError) in try ask(commands, action: ClockOffset.reading) }
    }

    /// As ``read(_:)``, but suspends.
    ///
    /// - Parameter time: how long each question waits at most; `nil` for the client's own timeout.
    func read(_ offset: ClockOffset, within time: Duration?) async throws(StoreError) {
        try await offset.readSuspending { commands async throws(StoreError) in
            try await request(commands, within: time, action: ClockOffset.reading)
        }
    }

    private func values(
        _ answer: Result<[RedisValue], RedisError>,
        of commands: [RedisCommand],
        since start: Int64,
        action: String
    ) throws(StoreError) -> [RedisValue] {
        switch answer {
        // An app may have brought its own client.
        case .success(let values) where values.count != commands.count:
            let reason = "the client gave \(values.count) answers to \(commands.count) commands"
            throw StoreError(.unreachable, action: action, reason: reason)
        case .success(let values):
            breaker.answered()
            pace.answered(since: start)
            return values
        case .failure(let error):
            guard error.code == .timeout else { throw failure(error, action) }
            pace.gaveUp(since: start)
            throw failure(error, action, isSilent: !pace.hasAnswered(since: start))
        }
    }

    /// - Parameter isSilent: whether the server has answered no other call either.
    private func failure(_ error: RedisError, _ action: String, isSilent: Bool = true) -> StoreError {
        let code: StoreError.Code =
            switch error.code {
            case .closed: .closed
            case .forked: .forked
            // It says nothing about the server.
            case .cancelled: .cancelled
            default: .unreachable
            }
        if code == .unreachable { breaker.failed(isSilent: isSilent) }
        if error.code == .timeout { counters.count { $0.timeouts += 1 } }
        return StoreError(code, action: action, reason: error.message)
    }

    /// Throws the server's refusal of a `SET`, or an answer that acknowledges none.
    static func checkSet(_ value: RedisValue, doing action: String) throws(StoreError) {
        try check(value, doing: action)
        if value.text == "OK" { return }
        throw StoreError(.unreachable, action: action, reason: "the server answered SET by something else than OK")
    }

    /// Throws the server's refusal of a command.
    static func check(_ value: RedisValue, doing action: String) throws(StoreError) {
        guard case .error(let error) = value else { return }
        let code: StoreError.Code =
            switch error.code {
            case "WRONGTYPE": .foreign
            case "LOADING", "BUSY", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "TRYAGAIN", "NOREPLICAS": .unreachable
            // Of a cluster's client: a node did not answer, or nodes sent the command to each other too often.
            case "NOANSWER", "MOVED", "ASK": .unreachable
            // Of a script of ours.
            case "NOPART": .unreachable
            default: .io
            }
        throw StoreError(code, action: action, reason: "the server refused: \(error.textWithoutArguments)")
    }
}
