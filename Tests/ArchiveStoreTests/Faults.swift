import Synchronization

/// What went wrong on any thread.
final class Faults: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ fault: String) {
        list.withLock { $0.append(fault) }
    }

    var all: [String] { list.withLock { $0 } }
}
