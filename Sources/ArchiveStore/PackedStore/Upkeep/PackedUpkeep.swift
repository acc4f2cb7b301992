import Dispatch
import Synchronization

/// Runs a store's upkeep in the background, once for all changes that asked for it in the meantime.
final class PackedUpkeep: Sendable {
    private let queue = DispatchQueue(label: "packed-store-upkeep", qos: .utility, autoreleaseFrequency: .workItem)
    private let isWaiting = Atomic<Bool>(false)

    func start(_ layer: FileLayer, _ body: @escaping @Sendable () -> Void) {
        guard !isWaiting.exchange(true, ordering: .relaxed) else { return }
        layer.start(on: queue) { [self] in
            isWaiting.store(false, ordering: .relaxed)
            body()
        }
    }

    /// Waits until nothing is left to do.
    func finish() { queue.sync {} }
}
