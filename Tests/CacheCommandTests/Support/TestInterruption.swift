import Synchronization

@testable import CacheCommand

/// A signal that comes when the test says so.
final class TestInterruption: Interruption {
    private let number = Atomic<Int32>(0)

    var signal: Int32? {
        let number = number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    var descriptor: Int32? { nil }

    func arrive(_ signal: Int32) {
        number.store(signal, ordering: .relaxed)
    }
}
