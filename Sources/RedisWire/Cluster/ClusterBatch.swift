/// The commands of one caller on their way through a cluster: which node gets which of them, and again after refusals. A
/// value without I/O or clock.
///
/// A command goes out again only if it was certainly not executed: a node has refused it, or no connection has sent it,
/// or it may be executed twice (``RedisCommand/isRepeatable``).
///
/// Commands that go to one node at once are executed in their order. One that is refused is executed later, after those
/// that were not; so the order is certain among commands for one and the same key, but not among those for several keys
/// of a slot that is on its way to another node.
struct ClusterBatch {
    typealias Instant = ContinuousClock.Instant

    /// Commands that go to one node at once.
    struct Request {
        let node: RedisEndpoint
        fileprivate(set) var commands: [RedisCommand] = []
        /// For each of the commands, the item that it is of; `nil` for `ASKING`.
        fileprivate var items: [Int?] = []

        fileprivate init(_ node: RedisEndpoint) { self.node = node }

        fileprivate mutating func append(_ command: RedisCommand, of item: Int?) {
            commands.append(command)
            items.append(item)
        }
    }

    enum Step {
        /// Their answers are to be given to ``take(_:of:isKnownToBeDown:at:)``.
        case send([Request])
        /// All that is left to do is due later.
        case pause(Duration)
        case done(Result<[RedisValue], RedisError>)
    }

    /// How often nodes have sent a command elsewhere.
    typealias Counts = ClusterStatistics

    private enum Target: Equatable {
        case master
        case node(RedisEndpoint, asking: Bool)
    }

    private struct Item {
        let command: RedisCommand
        let slot: HashSlot?
        /// `WAIT` after commands with keys: it goes to each node that gets any of them, after them, and its answer is
        /// the smallest one.
        var followsChanges = false
        var target = Target.master
        /// Not to be sent before the topology was looked up so many times.
        var lookup = 0
        /// Not to be sent before.
        var start: Instant?
        var redirects = 0
        var failures = 0
        var refusals = 0
        /// The answer, or the last refusal.
        var value: RedisValue?
        /// The last attempt had no answer.
        var failure: RedisError?
        var isDone = false
    }

    /// The topology as far as it is known now.
    struct Map {
        let topology: ClusterTopology?
        /// Why no node has described the cluster yet.
        let failure: RedisError?
        /// How often the topology was begun to be looked up, and how often that is done.
        let lookups: (begun: Int, done: Int)
    }

    static let mostRedirects = 8
    private static let mostFailures = 3
    private static let pauses: (first: Duration, longest: Duration) = (.milliseconds(2), .milliseconds(100))

    private var items: [Item]
    let deadline: Instant
    private var ending: RedisError?
    private(set) var counts = Counts()

    /// Whether the topology has to be looked up again, and the node that had better not be asked.
    private(set) var wantsLookup = false
    private(set) var distrusted: RedisEndpoint?
    /// Slots with their new masters, as nodes that have refused commands say.
    private(set) var moves: [(slot: HashSlot, master: RedisEndpoint)] = []

    /// - Parameter deadline: when the caller is told of failures and refusals, instead of further attempts.
    init(_ commands: [RedisCommand], until deadline: Instant) {
        self.deadline = deadline
        var hasChanges = false
        items = commands.map { command in
            switch command.place {
            case .anywhere where hasChanges && command.name.uppercased() == "WAIT":
                // Done with the commands before it.
                return Item(command: command, slot: nil, followsChanges: true, isDone: true)
            case .slot(let slot):
                hasChanges = true
                return Item(command: command, slot: slot)
            case .anywhere: return Item(command: command, slot: nil)
            case .nowhere(let refusal):
                var item = Item(command: command, slot: nil)
                item.value = .error(refusal)
                item.isDone = true
                return item
            }
        }
    }

    // MARK: Steps

    mutating func next(_ map: Map, at now: Instant) -> Step {
        if let ending { return .done(.failure(ending)) }
        if items.allSatisfy(\.isDone) || now >= deadline { return .done(result(map)) }
        guard let topology = map.topology else {
            if let failure = map.failure { return .done(.failure(failure)) }
            wantsLookup = true
            return .pause(Self.pauses.first)
        }
        var requests: [Request] = []
        var places: [RedisEndpoint: Int] = [:]
        // Of the last command's node: commands for one key mostly stand together.
        var place = 0
        let anyNode = topology.masters.randomElement()
        for index in items.indices where items[index].followsChanges || isDue(index, map, at: now) {
            if items[index].followsChanges {
                for place in requests.indices { requests[place].append(items[index].command, of: index) }
                continue
            }
            let (found, isAsking): (RedisEndpoint?, Bool) =
                switch items[index].target {
                case .master: (items[index].slot.map { topology.master(of: $0) } ?? anyNode, false)
                case .node(let node, let isAsking): (node, isAsking)
                }
            guard let node = found else {
                isUnserved(index, map)
                continue
            }
            if requests.isEmpty || requests[place].node != node {
                place = places[node] ?? requests.count
                if place == requests.count {
                    places[node] = place
                    requests.append(Request(node))
                }
            }
            if isAsking { requests[place].append(["ASKING"], of: nil) }
            requests[place].append(items[index].command, of: index)
        }
        if requests.isEmpty { return items.allSatisfy(\.isDone) ? .done(result(map)) : .pause(pause(at: now)) }
        return .send(requests)
    }

    private func isDue(_ index: Int, _ map: Map, at now: Instant) -> Bool {
        !items[index].isDone && items[index].lookup <= map.lookups.done
            && items[index].start.map { $0 <= now } ?? true
    }

    /// No master has the slot: once the topology was looked up again, it is a refusal.
    private mutating func isUnserved(_ index: Int, _ map: Map) {
        items[index].value = .error(RedisReplyError(message: "CLUSTERDOWN No node is known to have the slot"))
        items[index].failures += 1
        if items[index].failures > 1 {
            items[index].isDone = true
        } else {
            lookUp(before: index, map.lookups.begun)
        }
    }

    private func pause(at now: Instant) -> Duration {
        let starts = items.compactMap { $0.isDone ? nil : $0.start }.filter { $0 > now }
        let next = starts.min().map { now.duration(to: $0) } ?? Self.pauses.first
        return min(next, now.duration(to: deadline), Self.pauses.longest)
    }

    /// The topology was told to be looked up.
    mutating func lookupIsBegun() {
        wantsLookup = false
        distrusted = nil
        moves = []
    }

    // MARK: Answers

    /// Takes the answers to a request.
    ///
    /// - Parameter isKnownToBeDown: whether the node did not answer before, and the topology that was looked up since still
    ///   has it as the master.
    mutating func take(
        _ outcome: RedisPending.Outcome,
        of request: Request,
        _ map: Map,
        isKnownToBeDown: Bool,
        at now: Instant
    ) {
        switch outcome {
        case .success(let values) where values.count == request.commands.count:
            var hasChanged = false
            for case (let index?, let value) in zip(request.items, values) {
                if !items[index].followsChanges {
                    take(value, of: index, by: request.node, map, at: now)
                    hasChanged = hasChanged || items[index].isDone
                } else if hasChanged {
                    // A node that has refused all of them waits for none.
                    items[index].value = items[index].value.map { Self.smaller($0, value) } ?? value
                }
            }
        case .success:
            let error = RedisError(
                .malformed,
                mayHaveRun: true,
                "\(request.node) gave a wrong number of answers."
            )
            for index in failing(request, with: error) { fail(index, error) }
        case .failure(let error):
            for index in failing(request, with: error) {
                take(error, of: index, map, isKnownToBeDown: isKnownToBeDown)
            }
            if error.code != .timeout { distrusted = request.node }
        }
    }

    /// The items of a request that fail with it. `WAIT` does not: it has the error only if no other node answers it.
    private mutating func failing(_ request: Request, with error: RedisError) -> [Int] {
        let all = request.items.compactMap { $0 }
        for index in all where items[index].followsChanges { items[index].failure = error }
        return all.filter { !items[$0].followsChanges }
    }

    private mutating func take(
        _ value: RedisValue,
        of index: Int,
        by node: RedisEndpoint,
        _ map: Map,
        at now: Instant
    ) {
        items[index].value = value
        items[index].failure = nil
        guard let refusal = ClusterRefusal(value, by: node) else {
            items[index].isDone = true
            return
        }
        items[index].target = .master
        switch refusal {
        case .moved(let slot, let master):
            counts.moved += 1
            redirect(index, to: master, asking: false, map)
            moves.append((slot, master))
            wantsLookup = true
        case .ask(let other):
            counts.asked += 1
            redirect(index, to: other, asking: true, map)
        case .notNow, .down:
            if refusal == .notNow { counts.delayed += 1 } else { counts.repeated += 1 }
            let pause = min(Self.pauses.first * (1 << min(items[index].refusals, 10)), Self.pauses.longest)
            items[index].refusals += 1
            // Between two nodes, keys that are on their way, or that neither has, may go there and back for a while.
            items[index].redirects = 0
            items[index].start = now + pause
            if refusal == .down {
                wantsLookup = true
                distrusted = node
            }
        }
    }

    /// The smaller of two numbers; otherwise the first answer that is not a number.
    private static func smaller(_ first: RedisValue, _ second: RedisValue) -> RedisValue {
        guard let one = first.integer else { return first }
        guard let other = second.integer else { return second }
        return one <= other ? first : second
    }

    private mutating func redirect(_ index: Int, to node: RedisEndpoint, asking: Bool, _ map: Map) {
        items[index].redirects += 1
        if items[index].redirects > Self.mostRedirects {
            items[index].isDone = true
        } else if map.topology?.knows(node) == true {
            items[index].target = .node(node, asking: asking)
        } else {
            // Not connected to on a single node's word.
            lookUp(before: index, map.lookups.begun)
        }
    }

    private mutating func take(_ error: RedisError, of index: Int, _ map: Map, isKnownToBeDown: Bool) {
        let item = items[index]
        let isLost = error.code == .notConnected || error.code == .connectionLost
        let mayRepeat = isLost && (!error.mayHaveRun || item.command.isRepeatable)
        fail(index, error)
        guard mayRepeat, !isKnownToBeDown, item.failures < Self.mostFailures else { return }
        counts.repeated += 1
        items[index].isDone = false
        items[index].failures += 1
        items[index].target = .master
        lookUp(before: index, map.lookups.begun)
    }

    private mutating func fail(_ index: Int, _ error: RedisError) {
        items[index].value = nil
        items[index].failure = error
        items[index].isDone = true
        if [.closed, .forked, .cancelled].contains(error.code) { ending = error }
    }

    private mutating func lookUp(before index: Int, _ begun: Int) {
        // One that is under way may have been answered already.
        items[index].lookup = begun + 1
        wantsLookup = true
    }

    // MARK: The end

    /// The answers. A missing one is an error in its place, unless all are missing.
    private func result(_ map: Map) -> Result<[RedisValue], RedisError> {
        let values = items.compactMap(\.value)
        if values.count == items.count { return .success(values) }
        let failures = items.map { item in
            item.value == nil
                ? item.failure ?? map.failure ?? RedisError(.timeout, "No node was known to ask in time.") : nil
        }
        let known = failures.compactMap { $0 }
        if let first = known.first, known.count == items.count {
            return .failure(RedisError(first.code, mayHaveRun: known.contains(where: \.mayHaveRun), first.message))
        }
        return .success(
            zip(items, failures).map { item, failure in
                item.value ?? .error(RedisReplyError(message: "\(Self.missing) \(failure?.message ?? "")"))
            }
        )
    }

    /// The code of the error in the place of a missing answer.
    static let missing = "NOANSWER"
}
