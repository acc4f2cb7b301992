import Synchronization

/// Something that a closure found out.
final class Flag: Sendable {
    private let state = Atomic(false)
    func set() { state.store(true, ordering: .sequentiallyConsistent) }
    var isSet: Bool { state.load(ordering: .sequentiallyConsistent) }
}
