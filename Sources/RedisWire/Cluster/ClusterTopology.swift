/// The nodes of a cluster and their slots, as one of them has described them. A value without I/O.
package struct ClusterTopology: Sendable, Equatable {
    /// More masters than a cluster may have.
    static let mostMasters = 1_024
    private static let mostRanges = HashSlot.count
    private static let mostNodes = 8 * mostMasters

    /// The masters that have slots, in the order of their first slots.
    package private(set) var masters: [RedisEndpoint] = []
    /// The addresses of all nodes, masters without slots and replicas among them.
    private var known: Set<RedisEndpoint> = []
    private var indices: [RedisEndpoint: UInt16] = [:]
    /// By the addresses of their masters.
    private var replicas: [RedisEndpoint: [RedisEndpoint]] = [:]
    /// For each slot, the index of its master; ``none`` for a slot that no master has.
    private var owners = [UInt16](repeating: Self.none, count: HashSlot.count)
    /// Whether the node that has described the cluster found it to be up.
    private(set) var isUp = true
    /// Grows with each change that the nodes agree on.
    private(set) var epoch: Int64 = 0

    private static let none = UInt16.max

    /// The commands that ask a node for the answers that ``init(_:toldBy:)`` reads.
    static let questions: [RedisCommand] = [
        RedisCommand(["CLUSTER", "SLOTS"], isRepeatable: true),
        RedisCommand(["CLUSTER", "NODES"], isRepeatable: true),
        RedisCommand(["CLUSTER", "INFO"], isRepeatable: true),
    ]

    /// Reads the answers to ``questions``. Of the latter two, which a user's rights may not include, refusals and parts
    /// that cannot be read are left out.
    ///
    /// - Throws: `.refused` if the node is not a cluster's, or says that no slot has a master; `.malformed` for slots that are not a cluster's.
    init(_ answers: [RedisValue], toldBy node: RedisEndpoint) throws(RedisError) {
        guard let slots = answers.first else { throw Self.malformed(node, "an answer is missing") }
        if case .error(let error) = slots {
            throw RedisError(.refused, "\(node) does not describe its cluster: \(error.message)")
        }
        try read(slots: slots, toldBy: node)
        if answers.count > 1, let text = answers[1].text { read(nodes: text, toldBy: node) }
        if answers.count > 2, let text = answers[2].text { read(information: text) }
    }

    /// The master of a slot; `nil` if the slot has none.
    package func master(of slot: HashSlot) -> RedisEndpoint? {
        let owner = owners[slot.number]
        return owner == Self.none ? nil : masters[Int(owner)]
    }

    /// The replicas of a slot's master.
    func replicas(of slot: HashSlot) -> [RedisEndpoint] { master(of: slot).flatMap { replicas[$0] } ?? [] }

    /// All replicas.
    var allReplicas: [RedisEndpoint] { replicas.values.flatMap(\.self) }

    /// Whether an address may be connected to.
    func knows(_ endpoint: RedisEndpoint) -> Bool { known.contains(endpoint) }

    /// The masters of which a slot has become another node's, or no node's, in a later topology.
    func losers(in later: ClusterTopology) -> Set<RedisEndpoint> {
        var losers: Set<RedisEndpoint> = []
        for number in 0..<HashSlot.count where owners[number] != Self.none {
            let former = masters[Int(owners[number])]
            let owner = later.owners[number]
            if owner == Self.none || later.masters[Int(owner)] != former { losers.insert(former) }
        }
        return losers
    }

    /// Takes a slot's new master from a node's refusal, until the whole topology is asked for.
    ///
    /// - Returns: whether the master is a known one.
    mutating func move(_ slot: HashSlot, to endpoint: RedisEndpoint) -> Bool {
        guard knows(endpoint), let index = index(of: endpoint) else { return false }
        owners[slot.number] = index
        return true
    }

    // MARK: Answers of nodes

    /// Reads `CLUSTER SLOTS`: ranges of slots with the address of their master, then those of its replicas.
    private mutating func read(slots value: RedisValue, toldBy node: RedisEndpoint) throws(RedisError) {
        guard let ranges = value.elements, ranges.count <= Self.mostRanges else {
            throw Self.malformed(node, "its slots are not a list of ranges")
        }
        // Calls would wait for masters until their timeouts.
        if ranges.isEmpty { throw RedisError(.refused, "\(node) says that no slot has a master.") }
        for range in ranges {
            guard let parts = range.elements, parts.count >= 3, let first = parts[0].integer,
                let last = parts[1].integer, first <= last, let slots = Self.slots(first, last)
            else { throw Self.malformed(node, "a range of slots cannot be one") }
            let copies = parts.dropFirst(3).compactMap { Self.endpoint($0, node) }
            for replica in copies { try add(replica, node) }
            // Its slots have no master as long as the node does not know where that is.
            guard let master = Self.endpoint(parts[2], node) else { continue }
            try add(master, node)
            replicas[master] = copies
            guard let index = index(of: master) else { throw Self.malformed(node, "it names too many masters") }
            for slot in slots {
                if owners[slot] != Self.none { throw Self.malformed(node, "slot \(slot) has two masters") }
                owners[slot] = index
            }
        }
    }

    private static func slots(_ first: Int64, _ last: Int64) -> ClosedRange<Int>? {
        guard let first = HashSlot(number: Int(first)), let last = HashSlot(number: Int(last)) else { return nil }
        return first.number...last.number
    }

    /// The address of a node: host, port, and more that is of no use.
    private static func endpoint(_ value: RedisValue, _ node: RedisEndpoint) -> RedisEndpoint? {
        guard let parts = value.elements, parts.count >= 2, let port = parts[1].integer else { return nil }
        if parts[0] == .null { return RedisEndpoint(clusterHost: "", port: Int(port), toldBy: node) }
        guard let host = parts[0].bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else { return nil }
        return RedisEndpoint(clusterHost: host[...], port: Int(port), toldBy: node)
    }

    private mutating func add(_ endpoint: RedisEndpoint, _ node: RedisEndpoint) throws(RedisError) {
        if known.count >= Self.mostNodes { throw Self.malformed(node, "it names too many nodes") }
        known.insert(endpoint)
    }

    /// The index of a master, which is added if need be; `nil` if there are too many.
    private mutating func index(of master: RedisEndpoint) -> UInt16? {
        if let index = indices[master] { return index }
        guard masters.count < Self.mostMasters else { return nil }
        let index = UInt16(masters.count)
        masters.append(master)
        indices[master] = index
        return index
    }

    /// Reads `CLUSTER NODES`, which also names the masters without slots, to which slots may be on their way:
    /// `<id> <host>:<port>@<bus port>,<name> <flags> …`, a line for each node.
    private mutating func read(nodes text: String, toldBy node: RedisEndpoint) {
        for line in text.split(separator: "\n").prefix(Self.mostNodes) {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { continue }
            let names = words[1].split(separator: ",", omittingEmptySubsequences: false)
            guard let address = names[0].split(separator: "@", omittingEmptySubsequences: false).first,
                let colon = address.lastIndex(of: ":")
            else { continue }
            let port = Int(address[address.index(after: colon)...])
            let isOwn = words[2].hasPrefix("myself")
            for host in [address[..<colon]] + names.dropFirst().prefix(1) where !host.isEmpty || isOwn {
                if known.count < Self.mostNodes,
                    let endpoint = RedisEndpoint(clusterHost: host, port: port, toldBy: node)
                {
                    known.insert(endpoint)
                }
            }
        }
    }

    /// The epoch and the slots that a node says in `CLUSTER NODES` are its own, slots on their way in brackets.
    ///
    /// - Returns: `nil` for anything else.
    static func ownSlots(_ value: RedisValue) -> Substring? {
        value.text?.split(separator: "\n").prefix(mostNodes).first { line in
            line.split(separator: " ", maxSplits: 3).dropFirst(2).first?.hasPrefix("myself") == true
        }.flatMap { line in
            // The number, address, flags, master and two times come first.
            let words = line.split(separator: " ", maxSplits: 6)
            return words.count == 7 ? words[6] : nil
        }
    }

    /// The number of slots that a master has.
    func slotCount(of master: RedisEndpoint) -> Int {
        guard let index = indices[master] else { return 0 }
        return owners.count { $0 == index }
    }

    /// Reads `CLUSTER INFO`: `<name>:<value>`, a line for each.
    private mutating func read(information text: String) {
        for line in text.split(whereSeparator: \.isNewline).prefix(100) {
            if let state = Self.value("cluster_state:", line) { isUp = state == "ok" }
            if let epoch = Self.value("cluster_current_epoch:", line).flatMap({ Int64($0) }) { self.epoch = epoch }
        }
    }

    private static func value(_ name: String, _ line: Substring) -> Substring? {
        line.hasPrefix(name) ? line.dropFirst(name.count) : nil
    }

    private static func malformed(_ node: RedisEndpoint, _ fault: String) -> RedisError {
        RedisError(.malformed, "The cluster that \(node) describes cannot be one: \(fault).")
    }
}
