import ArchiveStore
import RedisWire
import Synchronization

/// A process's view of a cache's entries in the engine: their generation, the entries near that may be used, and the
/// changes that the engine has not acknowledged. A value without I/O, clock or locks.
struct EngineView: Sendable {
    let names: EntryNames
    /// The current generation as far as this process knows; `nil` if it has to ask.
    private(set) var generation: Generation?
    var near: NearValidity
    var debts = DebtList()

    init(_ names: EntryNames, window: Duration) {
        self.names = names
        near = NearValidity(window: window)
    }

    // MARK: Generations

    mutating func learn(_ generation: Generation) { self.generation = generation }

    /// A generation is not the current one any more.
    mutating func forget(_ generation: Generation) {
        if self.generation == generation { self.generation = nil }
        near.changeAll()
    }

    /// The engine was emptied, or another generation has begun.
    mutating func forgetAll() {
        generation = nil
        near.changeAll()
    }

    // MARK: News

    /// Takes news of the engine.
    ///
    /// - Parameter digest: of a key.
    /// - Returns: the keys that were changed by others.
    mutating func take(_ event: TrackingEvent, digest: (String) -> KeyDigest) -> [String] {
        switch event {
        case .changed(let changed):
            return changed.compactMap { name in
                guard name.starts(with: names.cache.utf8) else { return nil }
                return hear(String(decoding: name, as: UTF8.self), digest)
            }
        case .changedAll: forgetAll()
        case .lost: near.lose()
        case .verified(let start): near.verify(since: start)
        }
        return []
    }

    /// Takes the name of something that others have changed.
    private mutating func hear(_ name: String, _ digest: (String) -> KeyDigest) -> String? {
        if name == names.generation {
            forgetAll()
            return nil
        }
        // Without a generation, nothing that was read of it is near.
        guard let generation, let key = names.key(ofEntry: name, generation) else { return nil }
        near.change(digest(key))
        return key
    }
}

/// The view of the engine that all threads of a process share.
final class SharedView: Sendable {
    let names: EntryNames
    private let view: Mutex<EngineView>

    init(_ view: EngineView) {
        names = view.names
        self.view = Mutex(view)
    }

    func withView<Result>(_ body: (inout sending EngineView) -> sending Result) -> sending Result {
        view.withLock(body)
    }

    var generation: Generation? { withView { $0.generation } }

    func isOwed(_ key: StoreKey) -> Bool { withView { $0.debts.isOwed(key) } }

    // MARK: Generations

    /// Asked behind commands: if the generation is still the same then, they were about entries that count.
    var askGeneration: RedisCommand { ["GET", .text(names.generation)] }

    /// The answers to commands that were about entries of a generation, without that to ``askGeneration``.
    ///
    /// - Returns: `nil` if the generation is not current any more.
    func confirmed(
        _ answers: [RedisValue],
        in generation: Generation,
        _ action: String
    ) throws(StoreError) -> [RedisValue]? {
        var answers = answers
        let last = answers.removeLast()
        try Engine.check(last, doing: action)
        if Generation(last) == generation { return answers }
        withView { $0.forget(generation) }
        return nil
    }
}
