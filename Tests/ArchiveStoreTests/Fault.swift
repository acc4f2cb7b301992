import Foundation
import Synchronization

@testable import ArchiveStore

/// Has the calls through its layer fail that a test chooses.
final class Fault: Sendable {
    private let failure = Mutex<(@Sendable (FileLayer.Call) -> Int32?)?>(nil)
    let writeCount = Atomic<Int>(0)

    var layer: FileLayer {
        FileLayer { [self] call in
            if call.operation == .write { writeCount.add(1, ordering: .relaxed) }
            guard let number = failure.withLock({ $0 })?(call) else { return .proceed }
            return .fail(number)
        }
    }

    func set(_ isMeant: (@Sendable (FileLayer.Call) -> Bool)?) {
        guard let isMeant else { return setNumbers(nil) }
        setNumbers { isMeant($0) ? EIO : nil }
    }

    /// - Parameter failure: the error number that a call fails with, if any.
    func setNumbers(_ failure: (@Sendable (FileLayer.Call) -> Int32?)?) {
        self.failure.withLock { $0 = failure }
    }
}
