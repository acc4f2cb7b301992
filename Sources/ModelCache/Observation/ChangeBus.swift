import Synchronization

/// Names an entry to its observers: a model or a list.
struct EntryName: Hashable, Sendable {
    /// The model's name; `nil` for a list.
    let model: String?
    let key: String
}

/// Tells observers that an entry has changed.
///
/// An observer is told once, until it looks: it keeps a mark, no changes.
final class ChangeBus: Sendable {
    private struct State {
        var observers: [EntryName: [ObjectIdentifier: Observer]] = [:]
        var isEnded = false
    }

    private let state = Mutex(State())

    /// Has an observer told of these entries from now on, and of no other entries.
    func observe(_ names: Set<EntryName>, _ observer: Observer) {
        state.withLock { state in
            guard !state.isEnded else { return observer.end() }
            let former = observer.names.withLock { current in
                defer { current = names }
                return current
            }
            for name in former.subtracting(names) { remove(observer, of: name, in: &state) }
            for name in names.subtracting(former) {
                state.observers[name, default: [:]][ObjectIdentifier(observer)] = observer
            }
        }
    }

    func remove(_ observer: Observer) {
        state.withLock { state in
            for name in observer.names.withLock({ $0 }) { remove(observer, of: name, in: &state) }
        }
    }

    private func remove(_ observer: Observer, of name: EntryName, in state: inout State) {
        state.observers[name]?[ObjectIdentifier(observer)] = nil
        if state.observers[name]?.isEmpty == true { state.observers[name] = nil }
    }

    /// Marks the observers of some entries.
    ///
    /// - Parameter names: is not called if nothing is observed.
    func tell(_ names: @autoclosure () -> some Collection<EntryName>) {
        if state.withLock({ $0.observers.isEmpty }) { return }
        let names = names()
        let told = state.withLock { state in
            var told: [ObjectIdentifier: Observer] = [:]
            for name in names {
                if let observers = state.observers[name] { told.merge(observers) { old, _ in old } }
            }
            return told
        }
        for observer in told.values { observer.mark() }
    }

    /// Marks all observers.
    func tellAll() {
        let told = state.withLock { state in
            var told: [ObjectIdentifier: Observer] = [:]
            for observers in state.observers.values { told.merge(observers) { old, _ in old } }
            return told
        }
        for observer in told.values { observer.mark() }
    }

    /// Ends all observers, also later ones.
    func end() {
        let ended = state.withLock { state in
            state.isEnded = true
            defer { state.observers = [:] }
            return state.observers.values.flatMap(\.values)
        }
        for observer in ended { observer.end() }
    }

    /// For tests that ended observers leave nothing behind.
    var observedCount: Int { state.withLock { $0.observers.count } }
}

/// Waits for changes of the entries that it observes.
final class Observer: Sendable {
    private struct State {
        var isMarked = true
        var isEnded = false
        var waiting: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())
    fileprivate let names = Mutex<Set<EntryName>>([])

    fileprivate func mark() {
        let waiting = state.withLock { state in
            state.isMarked = state.waiting == nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: true)
    }

    func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: false)
    }

    /// Suspends until something changed since the last call, at once the first time.
    ///
    /// - Returns: `false` if there will be no more changes, or the task was cancelled.
    nonisolated(nonsending) func changed() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.isEnded || Task.isCancelled { return false }
                    if state.isMarked {
                        state.isMarked = false
                        return true
                    }
                    state.waiting = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }
}
