#if canImport(RedisWireSources)
    // The fuzzer's package has the sources under this name, since no two packages may have a module of one name.
    @testable import RedisWireSources
#else
    @testable import RedisWire
#endif

/// The law of a cluster's answers: each topology that a node tells is refused, or has bounds, and a known master for each
/// of its slots; after each refusal of a node, commands go to known nodes alone, and come to an end. The fuzzer of
/// topologies has a link to this file.
///
/// A stream of RESP3 has the answers to `CLUSTER SLOTS`, `CLUSTER NODES` and `CLUSTER INFO`, then the answers of nodes to
/// commands.
struct TopologyTrial {
    enum Broken: Error {
        case differentAgain
        case masters(Int)
        case unknownMaster(RedisEndpoint)
        case noAddress(RedisEndpoint)
        case slotCount(Int, of: Int)
        case movedWrongly(HashSlot, RedisEndpoint)
        case unknownNode(RedisEndpoint)
        case endless
    }

    let bytes: [UInt8]

    private static let teller = RedisEndpoint.tcp(host: "teller", port: 7000)
    private static let mostSteps = 500

    func run() throws {
        var values: [RedisValue] = []
        var decoder = RedisDecoder()
        bytes.withUnsafeBytes { decoder.append($0) }
        // A stream that breaks off has the values before the fault.
        while values.count < 100, let value = try? decoder.next() { values.append(value) }
        let answers = Array(values.prefix(3))
        guard let topology = try? ClusterTopology(answers, toldBy: Self.teller) else { return }
        guard try ClusterTopology(answers, toldBy: Self.teller) == topology, topology.losers(in: topology).isEmpty
        else {
            throw Broken.differentAgain
        }
        try check(topology)
        let refusals = Array(values.dropFirst(3))
        try move(topology, by: refusals)
        try send(topology, refusals)
    }

    private func check(_ topology: ClusterTopology) throws {
        guard topology.masters.count <= ClusterTopology.mostMasters,
            Set(topology.masters).count == topology.masters.count
        else { throw Broken.masters(topology.masters.count) }
        var counts: [RedisEndpoint: Int] = [:]
        for number in 0..<HashSlot.count {
            guard let slot = HashSlot(number: number), let master = topology.master(of: slot) else { continue }
            counts[master, default: 0] += 1
        }
        for master in topology.masters {
            guard topology.knows(master) else { throw Broken.unknownMaster(master) }
            guard case .tcp(let host, let port) = master, port > 0, !host.isEmpty, host.utf8.count <= 253 else {
                throw Broken.noAddress(master)
            }
            let (own, count) = (topology.slotCount(of: master), counts.removeValue(forKey: master) ?? 0)
            if own != count { throw Broken.slotCount(own, of: count) }
        }
        if let stranger = counts.keys.first { throw Broken.unknownMaster(stranger) }
    }

    /// Moves slots as refusals say, to known nodes alone.
    private func move(_ topology: ClusterTopology, by refusals: [RedisValue]) throws {
        var moved = topology
        for value in refusals {
            guard case .moved(let slot, let target)? = ClusterRefusal(value, by: Self.teller) else { continue }
            let former = moved.master(of: slot)
            let isMoved = moved.move(slot, to: target)
            let isRight = isMoved ? moved.master(of: slot) == target : moved.master(of: slot) == former
            guard isRight, isMoved ? topology.knows(target) : true else { throw Broken.movedWrongly(slot, target) }
        }
        try check(moved)
    }

    /// Has commands answered by the values, one after another, and then by a plain one.
    private func send(_ topology: ClusterTopology, _ values: [RedisValue]) throws {
        let start = ContinuousClock.now
        var now = start
        let commands = (0..<5).map { RedisCommand(["GET", .text("key \($0)")]) }
        var batch = ClusterBatch(commands, until: start + .seconds(5))
        var rest = values[...]
        var lookups = 0
        for _ in 0..<Self.mostSteps {
            let map = ClusterBatch.Map(topology: topology, failure: nil, lookups: (lookups, lookups))
            switch batch.next(map, at: now) {
            case .done: return
            case .pause(let pause): now += max(pause, .milliseconds(1))
            case .send(let requests):
                for request in requests {
                    guard topology.knows(request.node) else { throw Broken.unknownNode(request.node) }
                    let answers = request.commands.map { _ in rest.popFirst() ?? .simple("OK") }
                    batch.take(.success(answers), of: request, map, isKnownToBeDown: false, at: now)
                }
            }
            if batch.wantsLookup {
                lookups += 1
                batch.lookupIsBegun()
            }
        }
        throw Broken.endless
    }
}
