import Foundation

@testable import ArchiveStore
@testable import RedisWire
@testable import SharedCache
@testable import TypedCache

/// Ways in which a process, or a server, is wrong on purpose.
enum Variant: String, CaseIterable {
    case right
    /// Entries are kept in memory even if a change was heard of while they were read.
    case noTicket
    /// A lost connection is not told.
    case noEpoch
    /// Heartbeats are answered by a node that was cut off.
    case pingForGet
    /// Generations are made of the machine's clock.
    case clockForGeneration
    /// Memory is taken to be valid since a heartbeat's answer.
    case heartbeatFromItsAnswer
    /// A removal leaves the key's lease.
    case noEndOfLease
    /// Keys with a failed change are read.
    case noBar
    /// A save under a condition is made even if the condition does not hold.
    case noCondition
    /// Answers of a master that does not tell of changes are kept as any others.
    case noDoubt
    /// Doubtful entries are taken to be the engine's.
    case noComparison
    /// Changes of a key that a load is about to read are not followed.
    case unexpectedLoad
    /// A move of a deadline takes the key's present entry, though another process has saved over the one that was read.
    case anyDeadline
    /// A removal leaves an entry if its deadline was moved since it was read.
    case onlyTheSameDeadline
    /// The server tells no process of a moved deadline, and the mover's memory keeps the former one.
    case untoldDeadline
}

/// A process with a cache on a shared tier: the values of the product, and the simulation's events in place of threads.
final class SimulatedProcess {
    static let prefix = "tc:test:"
    static let heartbeatInterval: Moment = 20_000
    static let window: Moment = 40_000
    static let lease: Duration = .milliseconds(300)

    let number: Int
    let events: EventQueue
    let cluster: SimulatedCluster
    let oracle: Oracle
    let variant: Variant
    let view: SharedView
    /// By how many seconds its clock is ahead.
    let secondsAhead: Double
    var clock = EngineClock()

    var table = EntryTable()
    var memory: MemoryTier
    var expected = ExpectedKeys()
    private(set) var isAlive = true
    private var stoppedUntil: Moment = 0
    private var unpluggedUntil: Moment = 0
    private var links: [SimulatedLink] = []
    /// The news of all masters as one stream.
    private(set) var tracking = ClusterTracking(window: .microseconds(window))
    private var lastConnection = 0

    /// Loads that wait for another process.
    var leaseWaiters: [String: [() -> Void]] = [:]
    /// Loads under way, and the calls that wait for each.
    var loads: [String: [(FetchedValue) -> Void]] = [:]
    /// Whether a debt is being paid, or an owed key changed, and the calls that wait for the end of that.
    private var isPaying = false
    private var waitingForPayment: [() -> Void] = []

    init(number: Int, _ cluster: SimulatedCluster, _ variant: Variant, secondsAhead: Double) {
        self.number = number
        self.cluster = cluster
        self.variant = variant
        self.secondsAhead = secondsAhead
        events = cluster.events
        oracle = cluster.oracle
        let names = EntryNames(prefix: Self.prefix, cache: "cache", schema: 1)
        view = SharedView(EngineView(names, window: .microseconds(Self.window)))
        memory = MemoryTier(settings: MemorySettings(countLimit: 8), table: table)
    }

    deinit {
        _ = memory.invalidateAll()
        table.deallocate()
    }

    /// Connects, reads the engine's clock, and then calls `ready`.
    func start(_ ready: @escaping () -> Void) {
        links = cluster.shards.map { SimulatedLink(self, $0) }
        follow { $0.set(masters, losers: []) }
        for link in links { link.start() }
        readClock(ready)
    }

    private func readClock(_ ready: @escaping () -> Void) {
        let sent = events.now
        links[0].send([["TIME"]]) { [self] answers in
            guard let parts = answers?.first?.elements, parts.count == 2, let seconds = parts[0].integer,
                let micros = parts[1].integer
            else { return after(10_000) { [self] in readClock(ready) } }
            let halfWay = Double(events.now - sent) / 2e6
            let there = Double(seconds) + Double(micros) / 1e6
            clock.secondsAhead = there - (now.timeIntervalSince1970 - halfWay)
            oracle.clockError = max(oracle.clockError, events.now - sent)
            ready()
        }
    }

    // MARK: Time

    /// The time of the process's own clock.
    var now: Date {
        Date(timeIntervalSince1970: Double(ModelEngine.start + events.now) / 1e6 + secondsAhead)
    }

    var isRunning: Bool { isAlive && stoppedUntil <= events.now }
    var isUnplugged: Bool { unpluggedUntil > events.now }

    /// Runs `body` after a time, or once the process goes on, if that is later; not if it has died.
    func after(_ delay: Moment, _ body: @escaping () -> Void) {
        events.after(delay) { [weak self] in
            guard let self, isAlive else { return }
            if isRunning { return body() }
            events.at(stoppedUntil + events.moment(0...500)) { [weak self] in self?.after(0, body) }
        }
    }

    func stop(for time: Moment) { stoppedUntil = max(stoppedUntil, events.now + time) }
    func unplug(for time: Moment) { unpluggedUntil = max(unpluggedUntil, events.now + time) }

    func heal() {
        stoppedUntil = events.now
        unpluggedUntil = events.now
    }

    func kill() {
        isAlive = false
        for link in links { link.end() }
        loads = [:]
        leaseWaiters = [:]
        waitingForPayment = []
        oracle.died(number)
    }

    // MARK: News

    /// The masters as far as the process knows them.
    var masters: [RedisEndpoint] { links.map(\.endpoint) }

    func nextConnection() -> Int {
        lastConnection += 1
        return lastConnection
    }

    /// Changes the state of tracking, and takes the news.
    func follow(_ body: (inout ClusterTracking) -> [TrackingEvent]) { take(body(&tracking)) }

    func take(_ news: [TrackingEvent]) {
        for event in news {
            oracle.tell("process \(number) takes \(Self.text(of: event))")
            take(event)
            if case .verified = event { payDebts() }
        }
    }

    private static func text(of commands: [RedisCommand]) -> String {
        commands.map { "\($0.name) " + String(decoding: $0.keys.first?.suffix(24) ?? [], as: UTF8.self) }
            .joined(separator: ", ")
    }

    private static func text(of event: TrackingEvent) -> String {
        switch event {
        case .changed(let names), .unheard(let names):
            var text = "changes of "
            if case .unheard = event { text = "unheard " }
            return text + "\(names.map { String(decoding: $0, as: UTF8.self) })"
        case .changedAll: return "the change of all"
        case .lost(let error): return "a loss: \(error.message)"
        case .verified(let start): return "a heartbeat of \(EventQueue.moment(of: start))"
        }
    }

    /// As `TierMembers` and `SharedStore` do.
    private func take(_ event: TrackingEvent) {
        if case .verified = event {
            let generation = links[cluster.shard(of: view.names.generation).number]
            guard tracking.counted.contains(generation.endpoint) else { return }
        }
        let heard = view.withView { $0.hear(event) { KeyDigest(hashing: $0) } }
        for key in heard.changed + heard.echoed {
            for wake in leaseWaiters.removeValue(forKey: key) ?? [] { after(events.moment(0...200), wake) }
        }
    }

    private func payDebts() {
        if isPaying || view.debts.isEmpty { return }
        paying { [self] done in make(PayDebts()) { _ in done() } }
    }

    // MARK: Calls

    /// Makes a call as ``Engine`` does.
    ///
    /// - Parameter failed: is given the call as it failed.
    func make<Call: EngineCall>(
        _ call: Call,
        failed: @escaping (Call) -> Void = { _ in },
        _ done: @escaping (Result<Call.Outcome, StoreError>) -> Void
    ) {
        var call = call
        func go(_ answers: [RedisValue]) {
            do throws(StoreError) {
                switch try call.next(answers, view) {
                case .send(let commands):
                    oracle.tell("process \(number): \(call.action): sends \(Self.text(of: commands))")
                    ask(commands, call.action) { result in
                        switch result {
                        case .success(let answers): go(answers)
                        case .failure(let error): fail(error)
                        }
                    }
                case .done(let outcome):
                    oracle.tell("process \(number): \(call.action): done")
                    done(.success(outcome))
                }
            } catch {
                fail(error)
            }
        }
        func fail(_ error: StoreError) {
            oracle.tell("process \(number): \(call.action): \(error.reason)")
            call.failed(error, view)
            failed(call)
            done(.failure(error))
        }
        go([])
    }

    /// Sends commands to the shards of their names.
    func ask(
        _ commands: [RedisCommand],
        _ action: String,
        _ answered: @escaping (Result<[RedisValue], StoreError>) -> Void
    ) {
        var parts: [Int: [Int]] = [:]
        for (index, command) in commands.enumerated() { parts[shard(of: command), default: []].append(index) }
        var values = [RedisValue](repeating: .null, count: commands.count)
        var left = parts.count
        var isTold = false
        func tell(_ result: Result<[RedisValue], StoreError>) {
            if isTold { return }
            isTold = true
            // The thread that waits runs when it gets a processor.
            after(events.moment(0...300)) { answered(result) }
        }
        for shard in parts.keys.sorted() {
            let indices = parts[shard] ?? []
            links[shard].send(indices.map { commands[$0] }) { answers in
                guard let answers else {
                    return tell(.failure(StoreError(.unreachable, action: action, reason: "no answer")))
                }
                for (index, value) in zip(indices, answers) { values[index] = value }
                left -= 1
                if left == 0 { tell(.success(values)) }
            }
        }
    }

    /// All names of a shard.
    func list(_ shard: Int, _ done: @escaping ([String]?) -> Void) {
        links[shard].send([["KEYS", "*"]]) { answers in done(answers?.first?.elements.map { $0.compactMap(\.text) })
        }
    }

    private func shard(of command: RedisCommand) -> Int {
        guard let name = command.keys.first else { return 0 }
        return cluster.shard(of: String(decoding: name, as: UTF8.self)).number
    }

    // MARK: Payment

    /// Runs `body` while no debt is paid otherwise, nor an owed key changed; it calls its argument at its end.
    func paying(_ body: @escaping (_ done: @escaping () -> Void) -> Void) {
        if isPaying { return waitingForPayment.append { [unowned self] in paying(body) } }
        isPaying = true
        body { [self] in
            isPaying = false
            if !waitingForPayment.isEmpty { waitingForPayment.removeFirst()() }
        }
    }

    /// Changes a key's entry as `SharedStore.changing` does.
    func change<Call: EngineCall>(
        _ key: StoreKey,
        _ call: Call,
        if condition: @escaping () -> Bool = { true },
        _ done: @escaping (Result<Call.Outcome?, StoreError>) -> Void
    ) {
        if view.debts.withList({ $0.owesGeneration }) {
            paying { [self] finished in
                make(PayDebts()) { [self] result in
                    finished()
                    switch result {
                    case .success: change(key, call, if: condition, done)
                    case .failure(let error): done(.failure(error))
                    }
                }
            }
            return
        }
        func makeOwing(_ finished: @escaping () -> Void) {
            guard condition() else {
                finished()
                return done(.success(nil))
            }
            make(Owing(key, call)) { result in
                finished()
                done(result.map { $0 })
            }
        }
        if !view.isOwed(key) { return makeOwing {} }
        paying { [self] finished in
            guard view.isOwed(key) else { return makeOwing(finished) }
            make(PayKeys([key])) { result in
                guard case .failure(let error) = result else { return makeOwing(finished) }
                finished()
                done(.failure(error))
            }
        }
    }
}
