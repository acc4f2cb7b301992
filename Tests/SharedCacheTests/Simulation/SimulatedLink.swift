@testable import RedisWire

/// The two connections of a process to the master of a shard, as a tier has them: for calls, and for the server's
/// messages and heartbeats. Follows the shard to another master.
final class SimulatedLink {
    private final class Pending {
        let answered: ([RedisValue]?) -> Void
        var isTold = false
        var isDone = false

        init(_ answered: @escaping ([RedisValue]?) -> Void) { self.answered = answered }

        func tell(_ values: [RedisValue]?) {
            if !isTold {
                isTold = true
                answered(values)
            }
        }
    }

    private enum Kind { case calls, channel }

    static let softTimeout: Moment = 60_000
    static let hardTimeout: Moment = 150_000

    private unowned let process: SimulatedProcess
    private let shard: SimulatedCluster.Shard
    private var node: ModelEngine
    /// The number of the connection to this node: see `ClusterTracking`.
    private var number = 0
    private var wires: [Kind: Wire] = [:]
    private var pending: [Kind: [Pending]] = [.calls: [], .channel: []]
    private var tracking = Tracking()

    private var events: EventQueue { process.events }

    init(_ process: SimulatedProcess, _ shard: SimulatedCluster.Shard) {
        self.process = process
        self.shard = shard
        node = shard.master
    }

    var endpoint: RedisEndpoint { Self.endpoint(of: node) }

    private static func endpoint(of node: ModelEngine) -> RedisEndpoint {
        .tcp(host: "node", port: UInt16(node.number))
    }

    // MARK: Connections

    func start() {
        number = process.nextConnection()
        tracking = Tracking()
        process.follow { [endpoint, number] in $0.connect(endpoint, number) }
        connect(.calls)
        connect(.channel)
        beat(number)
    }

    /// Takes the shard's master of now, if it is another one.
    private func moveToMaster() {
        guard shard.master !== node else { return }
        let (former, formerNumber) = (endpoint, number)
        number = 0
        for wire in wires.values { wire.close() }
        wires = [:]
        let due = [Kind.calls, .channel].flatMap { pending[$0] ?? [] }
        pending = [.calls: [], .channel: []]
        node = shard.master
        process.follow { [process] in $0.set(process.masters, losers: [former]) }
        process.follow { $0.disconnect(former, formerNumber) }
        start()
        give(up: due)
    }

    /// Runs `body` after a time, if the connection is still the same.
    private func after(_ delay: Moment, _ body: @escaping () -> Void) {
        process.after(delay) { [weak self, number] in
            if self?.number == number { body() }
        }
    }

    private func connect(_ kind: Kind) {
        let longest: Moment = events.chance(0.2) ? 80_000 : 4_000
        after(events.moment(Wire.shortestConnecting...longest)) { [self] in
            guard process.cluster.isRunning(node), !process.isUnplugged else {
                // Other nodes know the master.
                if !process.isUnplugged, shard.master !== node { return moveToMaster() }
                tell(.disconnected(RedisError(.notConnected, "cannot be reached")), kind)
                return after(events.moment(5_000...20_000)) { [self] in connect(kind) }
            }
            let number = number
            let wire = Wire(from: process, to: node, isChannel: kind == .channel) { [weak self] value in
                if case .push(let elements) = value, self?.number == number { self?.tell(.push(elements), kind) }
            } broke: { [weak self] in
                if self?.number == number { self?.lose(kind) }
            }
            wires[kind] = wire
            let client = RedisPair(key: .bulk(Array("id".utf8)), value: .integer(Int64(wire.clientNumber)))
            tell(.connected(.map([client])), kind)
        }
    }

    private func lose(_ kind: Kind) {
        wires[kind] = nil
        let due = pending[kind] ?? []
        pending[kind] = []
        tell(.disconnected(RedisError(.connectionLost, "lost")), kind)
        connect(kind)
        give(up: due)
    }

    private func give(up calls: [Pending]) {
        for call in calls {
            call.isDone = true
            call.tell(nil)
        }
    }

    private func tell(_ event: RedisEvent, _ kind: Kind) {
        let news = kind == .calls ? tracking.callsDid(event) : tracking.channelDid(event)
        if let news { tell(news) }
    }

    private func tell(_ news: TrackingEvent) {
        if case .lost = news, process.variant == .noEpoch { return }
        process.follow { [endpoint, number, events] in $0.take(news, of: endpoint, number, at: events.instant) }
    }

    func end() {
        for wire in wires.values { wire.close() }
    }

    // MARK: Calls

    /// Sends commands; `answered` is called once, with `nil` if no answers come in time.
    func send(_ commands: [RedisCommand], _ answered: @escaping ([RedisValue]?) -> Void) {
        let (endpoint, number) = (endpoint, number)
        let mark = process.tracking.mark(of: endpoint, number)
        send(commands, .calls) { [process] values in
            let isHeard = mark != nil && process.tracking.mark(of: endpoint, number) == mark
            if !isHeard, process.variant != .noDoubt { process.take([.unheard(commands.flatMap(\.keys))]) }
            answered(values)
        }
    }

    private func send(_ commands: [RedisCommand], _ kind: Kind, _ answered: @escaping ([RedisValue]?) -> Void) {
        guard let wire = wires[kind] else { return answered(nil) }
        let call = Pending(answered)
        pending[kind]?.append(call)
        wire.send(commands) { [weak self] values in
            if let self, wires[kind] === wire { take(values, kind) }
        }
        process.after(Self.softTimeout) { call.tell(nil) }
        after(Self.hardTimeout) { [self] in
            guard !call.isDone, wires[kind] === wire else { return }
            wire.close()
            lose(kind)
        }
    }

    private func take(_ values: [RedisValue], _ kind: Kind) {
        guard let call = pending[kind]?.first else { return }
        pending[kind]?.removeFirst()
        call.isDone = true
        let isRefused = values.contains { value in
            guard case .error(let error) = value else { return false }
            return error.code == "MOVED" || error.code == "CLUSTERDOWN"
        }
        call.tell(isRefused && kind == .calls ? nil : values)
        if isRefused { moveToMaster() }
    }

    // MARK: Heartbeats

    private func beat(_ number: Int) {
        let interval = SimulatedProcess.heartbeatInterval
        func again() {
            guard self.number == number else { return }
            after(tracking.isOn ? interval : interval / 5) { [weak self] in self?.beat(number) }
        }
        guard let beat = tracking.beginBeat(prefixes: [SimulatedProcess.prefix]) else { return again() }
        func ask() {
            let start = events.instant
            let command: RedisCommand = process.variant == .pingForGet ? ["PING"] : ["GET", "tc:test:heartbeat"]
            send([command], .channel) { [self] answers in
                guard self.number == number else { return }
                let time = process.variant == .heartbeatFromItsAnswer ? events.instant : start
                if let answer = answers?.first, let news = tracking.answered(beat, answer, sentAt: time) {
                    tell(news)
                }
                again()
            }
        }
        if beat.preparation.isEmpty { return ask() }
        send(beat.preparation, .calls) { [self] answers in
            guard self.number == number, let answers, tracking.prepared(beat, answers) else { return again() }
            ask()
        }
    }
}
