import ArchiveStore
import RedisWire
import Synchronization

/// A process's view of a cache's entries in the engine: their generation, and the entries near that may be used. A value
/// without I/O, clock or locks.
struct EngineView: Sendable {
    let names: EntryNames
    /// The current generation as far as this process knows; `nil` if it has to ask.
    private(set) var generation: Generation?
    var near: NearValidity
    /// The copies of a change that are waited for.
    let replicas: SharedSettings.Replicas
    private var echoes = OwnEchoes()
    /// Grows whenever any entry may have been changed: copies that were verified before are not any longer.
    private(set) var epoch: UInt64 = 0

    init(_ names: EntryNames, window: Duration) { self.init(names, .heard(window: window)) }

    init(_ names: EntryNames, _ rule: NearValidity.Rule, replicas: SharedSettings.Replicas = .none) {
        self.names = names
        self.replicas = replicas
        near = NearValidity(rule)
    }

    // MARK: Generations

    /// Takes a generation that was current at some moment. An answer that was long on its way may replace a later
    /// generation, and messages about the later one's entries are not understood from then on.
    mutating func learn(_ generation: Generation) {
        if self.generation.map({ $0 != generation }) ?? false { forgetAll() }
        self.generation = generation
    }

    /// A generation is not the current one any longer.
    mutating func forget(_ generation: Generation) {
        if self.generation == generation { self.generation = nil }
        epoch += 1
        near.changeAll()
    }

    /// The engine was emptied, or another generation has begun.
    mutating func forgetAll() {
        generation = nil
        epoch += 1
        near.changeAll()
    }

    /// Nothing that is kept near may be used any longer.
    mutating func changeAll() {
        epoch += 1
        near.changeAll()
    }

    /// Another client may have removed any entry, and its messages may still be on their way.
    mutating func doubtAll() {
        epoch += 1
        near.doubtAll()
    }

    // MARK: News

    /// The keys of entries that messages name.
    struct Heard {
        /// Keys that other clients have changed.
        var changed: [String] = []
        /// Keys that scripts of this process have changed, and perhaps other clients, too.
        var echoed: [String] = []
    }

    /// Takes news of the engine.
    ///
    /// - Parameter digest: of a key.
    /// - Returns: the keys of entries that were changed.
    mutating func take(_ event: TrackingEvent, digest: (String) -> KeyDigest) -> [String] {
        let heard = hear(event, digest: digest)
        return heard.changed + heard.echoed
    }

    /// As ``take(_:digest:)``, but tells this process's changes from those of other clients.
    mutating func hear(_ event: TrackingEvent, digest: (String) -> KeyDigest) -> Heard {
        var heard = Heard()
        switch event {
        case .changed(let changed):
            for name in changed where name.starts(with: names.cache.utf8) {
                hear(String(decoding: name, as: UTF8.self), digest, &heard)
            }
        case .unheard(let names):
            epoch += 1
            for name in names { doubt(String(decoding: name, as: UTF8.self), digest) }
        case .changedAll: forgetAll()
        case .lost:
            epoch += 1
            near.lose()
        case .verified(let start): near.verify(since: start)
        }
        return heard
    }

    /// Takes the name of something that was changed.
    private mutating func hear(_ name: String, _ digest: (String) -> KeyDigest, _ heard: inout Heard) {
        if name == names.generation { return forgetAll() }
        // Without a generation, nothing that was read of it is near.
        guard let generation, let key = names.key(ofEntry: name, generation) else { return }
        if echoes.take(key) {
            heard.echoed.append(key)
            near.doubt(digest(key))
        } else {
            heard.changed.append(key)
            near.change(digest(key))
        }
    }

    /// Takes the name of a key that other clients may change unheard.
    private mutating func doubt(_ name: String, _ digest: (String) -> KeyDigest) {
        if name == names.generation { return near.doubtAll() }
        guard let generation, let key = names.key(ofEntry: name, generation) else { return }
        near.doubt(digest(key))
    }

    /// Scripts are about to be sent that change the entries of keys.
    mutating func expectEchoes(of keys: [StoreKey]) {
        for key in keys { echoes.expect(key.string) }
    }
}

/// The keys that scripts of this process have changed, or are about to: the engine tells a client of its own scripts'
/// changes, not of its plain commands'. Such a message makes the near entry doubtful, and does not remove it.
///
/// A message too many or too few is no harm: a doubtful entry is compared before it is used.
private struct OwnEchoes {
    private static let mostKeys = 4_096

    private var keys: Set<String> = []

    mutating func expect(_ key: String) {
        if keys.count >= Self.mostKeys { keys = [] }
        keys.insert(key)
    }

    /// Whether a message may be the echo of a script; the next one is not.
    mutating func take(_ key: String) -> Bool { keys.remove(key) != nil }
}

/// The view of the engine that all threads of a process share.
final class SharedView: Sendable {
    let names: EntryNames
    let counters: TierCounters
    /// The changes that the engine has not acknowledged.
    let debts: SharedDebts
    private let replicas: SharedSettings.Replicas
    private let view: Mutex<EngineView>
    // Each hit in memory looks at these two alone. They change under the lock: the end after the changes before it.
    private let revision = Atomic<UInt64>(0)
    private let end = Atomic<Int64>(.min)
    private let currentEpoch = Atomic<UInt64>(0)
    private let clock = HitClock()

    init(_ view: EngineView, _ counters: TierCounters = TierCounters(), debts: SharedDebts = SharedDebts()) {
        names = view.names
        askGeneration = ["GET", .text(names.generation)]
        replicas = view.replicas
        self.counters = counters
        self.debts = debts
        self.view = Mutex(view)
    }

    func withView<Result>(_ body: (inout sending EngineView) -> sending Result) -> sending Result {
        view.withLock { view in
            defer {
                currentEpoch.store(view.epoch, ordering: .releasing)
                revision.store(view.near.revision, ordering: .releasing)
                end.store(view.near.end.map(clock.nanoseconds) ?? .min, ordering: .releasing)
            }
            return body(&view)
        }
    }

    /// The revision of the near entries' validity; `nil` while none may be used unasked. Takes no lock.
    var nearRevision: UInt64? {
        HitClock.now < end.load(ordering: .acquiring) ? revision.load(ordering: .acquiring) : nil
    }

    /// See ``EngineView/epoch``. Takes no lock.
    var epoch: UInt64 { currentEpoch.load(ordering: .acquiring) }

    /// Notes that keys are owed to the server.
    func owe(_ keys: some Collection<StoreKey>) {
        debts.withList { list in for key in keys { list.owe(key) } }
        counters.count { $0.debts += keys.count }
    }

    // MARK: Replicas

    /// The command that waits until replicas have the changes before it; none if they are not waited for.
    var waiting: [RedisCommand] {
        if replicas.count == 0 { return [] }
        return [["WAIT", .integer(replicas.count), .integer(max(Int(replicas.timeout / .milliseconds(1)), 1))]]
    }

    /// Takes the answer to ``waiting`` from the end of answers.
    ///
    /// - Throws: `.unreachable` if too few replicas have the changes.
    func checkReplicas(_ answers: inout [RedisValue], _ action: String) throws(StoreError) {
        guard replicas.count > 0, let last = answers.popLast() else { return }
        try Engine.check(last, doing: action)
        let count = Int(last.integer ?? 0)
        if count >= replicas.count { return }
        let reason = "\(count) replicas have the change, and \(replicas.count) are to have it"
        throw StoreError(.unreachable, action: action, reason: reason)
    }

    // These change nothing that is kept outside the lock.
    var generation: Generation? { view.withLock { $0.generation } }

    var isSettled: Bool { debts.isEmpty }

    func isOwed(_ key: StoreKey) -> Bool { debts.withList { $0.isOwed(key) } }

    /// As ``isOwed(_:)``, for each of some keys.
    func areOwed(_ keys: [StoreKey]) -> [Bool] { debts.withList { list in keys.map { list.isOwed($0) } } }

    // MARK: Generations

    /// Asked after commands: if the generation is still the same then, they were about entries that count.
    let askGeneration: RedisCommand

    /// The answers to commands that were about entries of a generation, without that to ``askGeneration``.
    ///
    /// - Returns: `nil` if the generation is not current any longer.
    func confirmed(
        _ answers: [RedisValue],
        in generation: Generation,
        _ action: String
    ) throws(StoreError) -> [RedisValue]? {
        var answers = answers
        let last = answers.removeLast()
        try Engine.check(last, doing: action)
        if generation.isWritten(in: last) { return answers }
        withView { $0.forget(generation) }
        return nil
    }
}
