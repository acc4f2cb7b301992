import RedisWire

/// Masters of a simulated cluster, each with a replica, and the network between them and the processes.
final class SimulatedCluster {
    /// One part of the names.
    final class Shard {
        let number: Int
        /// The node that has the shard's true state, and its replica.
        fileprivate(set) var master: ModelEngine
        fileprivate(set) var replica: ModelEngine
        /// Whether the master reaches the other nodes.
        fileprivate(set) var isCutOff = false
        /// Changes are sent to the replica in their order.
        fileprivate var lastReplication: Moment = 0
        /// Grows with each change of the master.
        fileprivate var term = 0

        fileprivate init(number: Int, _ events: EventQueue) {
            self.number = number
            master = ModelEngine(number: 2 * number, events)
            replica = ModelEngine(number: 2 * number + 1, events)
            replica.role = .replica
        }
    }

    static let nodeTimeout: Moment = 150_000

    let events: EventQueue
    let weather: Weather
    /// Whether faults and late bytes have ended.
    var isQuiet = false
    let shards: [Shard]
    let oracle: Oracle
    /// Nodes with a stopped process, and until when.
    private var stopped: [Int: Moment] = [:]
    /// Connections that end with their node.
    private var wires: [Int: [Wire]] = [:]

    init(_ events: EventQueue, _ weather: Weather, oracle: Oracle) {
        self.events = events
        self.weather = weather
        self.oracle = oracle
        shards = (0..<3).map { Shard(number: $0, events) }
        for shard in shards {
            for engine in [shard.master, shard.replica] {
                engine.changed = { [unowned self, unowned shard, unowned engine] name, new in
                    if shard.master === engine { didChange(name, new, in: shard) }
                }
                engine.killed = { [unowned self, unowned engine] number in
                    for wire in wires[engine.number] ?? [] where wire.clientNumber == number { wire.cut() }
                }
            }
        }
    }

    /// The shard of a name: that of the text in its braces, if it has some.
    func shard(of name: String) -> Shard {
        var part = name.utf8[...]
        if let start = part.firstIndex(of: UInt8(ascii: "{")), let end = part.lastIndex(of: UInt8(ascii: "}")) {
            part = part[start..<end]
        }
        let sum = part.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return shards[Int(sum >> 8) % shards.count]
    }

    // MARK: Connections

    func add(_ wire: Wire) {
        wires[wire.node.number, default: []].removeAll { !$0.isOpen }
        wires[wire.node.number, default: []].append(wire)
    }

    /// Whether a node takes bytes now.
    func isRunning(_ node: ModelEngine) -> Bool {
        node.role != .down && (stopped[node.number].map { $0 <= events.now } ?? true)
    }

    /// When a node goes on that is stopped.
    func resumption(of node: ModelEngine) -> Moment { stopped[node.number] ?? 0 }

    // MARK: Replication

    private func didChange(_ name: String, _ new: ModelEngine.Item?, in shard: Shard) {
        oracle.engineChanged(name, new, cause: .command)
        let term = shard.term
        shard.lastReplication = max(shard.lastReplication, events.now + events.moment(200...5_000))
        events.at(shard.lastReplication) { [unowned shard] in
            if shard.term == term, !shard.isCutOff { shard.replica.replicate(name, new) }
        }
    }

    // MARK: Faults

    /// Stops a node's process for a while: it accepts bytes and answers nothing.
    func stop(_ shard: Shard, for time: Moment) {
        stopped[shard.master.number] = max(resumption(of: shard.master), events.now + time)
    }

    /// Breaks all connections to a master, or those on which it tells of changes.
    func cutConnections(of shard: Shard, chance: Double) {
        for wire in wires[shard.master.number] ?? [] where wire.isOpen && events.chance(chance) { wire.cut() }
    }

    /// Ends a master's process. It is started again before the others notice, with nothing; or its replica takes over,
    /// and the former master comes back as replica.
    func crash(_ shard: Shard, failsOver: Bool) {
        guard shard.master.role == .master, !shard.isCutOff else { return }
        let old = shard.master
        old.crash()
        for wire in wires[old.number] ?? [] { wire.cut() }
        shard.term += 1
        let term = shard.term
        if failsOver {
            promote(shard, term: term) { [unowned self, unowned shard] in
                events.after(events.moment(50_000...300_000)) { [unowned self, unowned shard] in
                    follow(old, shard)
                }
            }
        } else {
            oracle.lost(shard.number)
            events.after(events.moment(5_000...100_000)) { [unowned shard] in
                guard shard.term == term else { return }
                shard.replica.load([:])
                old.role = .master
            }
        }
    }

    /// Cuts a master off from the other nodes, but not from the processes.
    func cutOff(_ shard: Shard, for time: Moment) {
        guard shard.master.role == .master, !shard.isCutOff else { return }
        let old = shard.master
        shard.isCutOff = true
        shard.term += 1
        let term = shard.term
        events.after(Self.nodeTimeout + events.moment(0...20_000)) { [unowned shard] in
            if shard.term == term, shard.isCutOff { old.role = .refusing }
        }
        promote(shard, term: term) {}
        events.after(time) { [unowned self, unowned shard] in
            if shard.term == term {
                // In time.
                shard.term += 1
                shard.isCutOff = false
                old.role = .master
                shard.replica.load(old.items)
            } else {
                follow(old, shard)
            }
        }
    }

    private func promote(_ shard: Shard, term: Int, _ done: @escaping () -> Void) {
        events.after(Self.nodeTimeout + events.moment(30_000...80_000)) { [unowned self, unowned shard] in
            guard shard.term == term else { return }
            shard.term += 1
            let old = shard.master
            shard.master = shard.replica
            shard.replica = old
            shard.isCutOff = false
            shard.master.role = .master
            oracle.promoted(shard.number)
            for name in Set(shard.master.items.keys).union(oracle.names(of: shard.number)).sorted() {
                oracle.engineChanged(name, shard.master.items[name], cause: .promotion)
            }
            done()
        }
    }

    /// Has a former master follow the new one.
    private func follow(_ old: ModelEngine, _ shard: Shard) {
        guard shard.replica === old else { return }
        old.role = .replica
        old.load(shard.master.items)
    }
}

extension SimulatedCluster.Shard {
    /// The names that the true state has, in the order of their last changes.
    var names: [String] { master.items.sorted { $0.value.number < $1.value.number }.map(\.key) }
}
