import ArchiveStore
import Foundation
import RedisWire
import Synchronization

/// Archives on a server that many machines share, one key of the engine each.
///
/// The bytes of an entry are those of its file in a cache's directory. Each save has a random serial: it and the footer,
/// the last 59 bytes, tell one version from every other one, and conditions are scripts that compare them.
///
/// Calls block until the server has answered. Without an answer they throw `.unreachable`; the key of a save or removal
/// that was not acknowledged is owed to the server: see ``Debts``.
///
/// Laws of stores that this one does not keep: it has no limits, the engine has; `information` and listings check an
/// entry's footer, not its checksum; damaged entries are found by fetches alone.
package final class SharedStore: RemoteStore {
    /// The largest archive, in bytes; one entry holds up all others of its connection.
    static let archiveByteLimit = 8 << 20

    let names: EntryNames
    let engine: Engine
    let debts = Debts()
    let news: SharedNews
    let offset: ClockOffset
    package let leaseDuration: Duration
    let waiters = LeaseWaiters()
    private let current = Mutex<Generation?>(nil)
    private let usage = StoreUsage()
    /// Tells the other stores of the process, of any schema: the engine does not tell a client of its own changes.
    private let tellOfRenewal: @Sendable (String) -> Void

    /// - Parameters:
    ///   - offset: by how much the server's clock is ahead of this machine's.
    ///   - window: how long after a heartbeat was sent near entries may be used without another one.
    ///   - leaseDuration: how long a lease lasts unless it is extended.
    ///   - tellOfRenewal: is called once a new generation has begun, with the beginning of the cache's names.
    init(
        _ engine: Engine,
        _ names: EntryNames,
        offset: ClockOffset,
        window: Duration,
        leaseDuration: Duration,
        tellOfRenewal: @escaping @Sendable (String) -> Void
    ) {
        self.engine = engine
        self.names = names
        self.offset = offset
        self.leaseDuration = leaseDuration
        self.tellOfRenewal = tellOfRenewal
        news = SharedNews(window: window)
    }

    /// A store that hears of no changes.
    ///
    /// - Parameter prefix: the beginning of all names of the tier.
    package convenience init(_ client: any RedisClient, prefix: String, cache: String, schema: UInt32) {
        self.init(
            Engine(client, Breaker()),
            EntryNames(prefix: prefix, cache: cache, schema: schema),
            offset: ClockOffset(),
            window: .seconds(2),
            leaseDuration: .seconds(10),
            tellOfRenewal: { _ in }
        )
    }

    package func close() throws(StoreError) {
        guard try usage.close() else { return }
        // An answer that comes later is of no use to anyone.
        try? payDebts()
    }

    func checkUsable() throws(StoreError) { try usage.check() }

    // MARK: Generations

    /// An attempt of a call: the generation may have changed before it was made.
    enum Attempt<Result> {
        case done(Result)
        case repeated
    }

    /// Repeats a call until its generation is the current one.
    func insist<Result>(
        _ action: String,
        _ body: (Generation) throws(StoreError) -> Attempt<Result>
    ) throws(StoreError) -> Result {
        try checkUsable()
        for _ in 0..<Self.mostAttempts {
            if case .done(let result) = try body(try generation(action)) { return result }
        }
        throw Self.disturbed(action)
    }

    /// As ``insist(_:_:)``, but suspends.
    func insistSuspending<Result>(
        _ action: String,
        _ body: (Generation) async throws(StoreError) -> Attempt<Result>
    ) async throws(StoreError) -> Result {
        try checkUsable()
        for _ in 0..<Self.mostAttempts {
            if case .done(let result) = try await body(try await requestedGeneration(action)) { return result }
        }
        throw Self.disturbed(action)
    }

    private static let mostAttempts = 100

    private static func disturbed(_ action: String) -> StoreError {
        let reason = "others changed it, or removed all entries, \(mostAttempts) times meanwhile"
        return StoreError(.unreachable, action: action, reason: reason)
    }

    /// As ``ask(_:in:action:)``, but suspends.
    func request(
        _ commands: [RedisCommand],
        in generation: Generation,
        action: String
    ) async throws(StoreError) -> [RedisValue]? {
        try answers(
            try await engine.request(commands + [askGeneration], action: action),
            in: generation,
            action: action
        )
    }

    /// Asked behind commands: if the generation is still the same then, they were about entries that count.
    private var askGeneration: RedisCommand { ["GET", .text(names.generation)] }

    private func answers(
        _ values: [RedisValue],
        in generation: Generation,
        action: String
    ) throws(StoreError) -> [RedisValue]? {
        var values = values
        let last = values.removeLast()
        try Engine.check(last, doing: action)
        if Generation(last) == generation { return values }
        forget(generation)
        return nil
    }

    /// Sends commands that name entries of a generation.
    ///
    /// - Returns: `nil` if the generation is not current any more: the commands changed no entry that counts.
    func ask(
        _ commands: [RedisCommand],
        in generation: Generation,
        action: String
    ) throws(StoreError) -> [RedisValue]? {
        try answers(try engine.ask(commands + [askGeneration], action: action), in: generation, action: action)
    }

    /// The current generation as far as this process knows.
    func generation(_ action: String) throws(StoreError) -> Generation {
        if let known = current.withLock({ $0 }) { return known }
        if let found = try learn(from: try engine.ask(asking(replacing: false), action: action), action) {
            return found
        }
        return try insistOnGeneration(try engine.ask(asking(replacing: true), action: action), action)
    }

    /// As ``generation(_:)``, but suspends.
    func requestedGeneration(_ action: String) async throws(StoreError) -> Generation {
        if let known = current.withLock({ $0 }) { return known }
        let values = try await engine.request(asking(replacing: false), action: action)
        if let found = try learn(from: values, action) { return found }
        return try insistOnGeneration(try await engine.request(asking(replacing: true), action: action), action)
    }

    /// - Parameter replacing: whether to replace bytes that no cache has written.
    private func asking(replacing: Bool) -> [RedisCommand] {
        let name = RedisCommand.Argument.text(names.generation)
        let set: [RedisCommand.Argument] = ["SET", name, .text(Generation.random().description)]
        // Another process may be the first.
        return [RedisCommand(replacing ? set : set + ["NX"]), ["GET", name]]
    }

    private func learn(from values: [RedisValue], _ action: String) throws(StoreError) -> Generation? {
        try Engine.check(values[1], doing: action)
        guard let found = Generation(values[1]) else { return nil }
        current.withLock { $0 = found }
        return found
    }

    private func insistOnGeneration(_ values: [RedisValue], _ action: String) throws(StoreError) -> Generation {
        if let found = try learn(from: values, action) { return found }
        throw StoreError(.unreachable, action: action, reason: "\(names.generation) keeps changing")
    }

    func forget(_ generation: Generation) {
        current.withLock { current in
            if current == generation { current = nil }
        }
        news.changedAll()
    }

    /// Begins a generation, with no entries.
    func renewGeneration(_ action: String) throws(StoreError) {
        let new = Generation.random()
        let value = RedisCommand.Argument.text(new.description)
        let answers = try engine.ask([["SET", .text(names.generation), value]], action: action)
        try Engine.check(answers[0], doing: action)
        tellOfRenewal(names.cache)
        current.withLock { $0 = new }
    }

    // MARK: News

    func take(_ event: TrackingEvent) {
        switch event {
        case .changed(let keys):
            for key in keys where key.starts(with: names.cache.utf8) {
                heard(String(decoding: key, as: UTF8.self))
            }
        case .changedAll: heardOfEverything()
        case .lost: news.lost()
        case .verified(let start): news.verified(since: start)
        }
    }

    /// The engine was emptied.
    func heardOfEverything() {
        current.withLock { $0 = nil }
        news.changedAll()
    }

    /// Takes the names of keys that others have changed.
    private func heard(_ name: String) {
        if name == names.generation { return heardOfEverything() }
        guard let generation = current.withLock({ $0 }), let key = names.key(ofEntry: name, generation) else {
            return
        }
        news.changed(digest(of: key))
    }

    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        try checkUsable()
        return news.take(at: .now)
    }
}
