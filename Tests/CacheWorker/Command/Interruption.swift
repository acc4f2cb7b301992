import Foundation
import Synchronization

/// Whether this process was asked to stop: SIGINT or SIGTERM. A second one ends it at once.
enum Interruption {
    private static let signal = Atomic<Int32>(0)

    /// The signal that came, or 0.
    static var arrived: Int32 { signal.load(ordering: .relaxed) }

    static func watch() {
        // Set up before a handler can see it.
        signal.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            Foundation.signal(number) { arrived in
                Interruption.signal.store(arrived, ordering: .relaxed)
                Foundation.signal(arrived, SIG_DFL)
            }
        }
        // A worker that ended is told by its missing answer.
        Foundation.signal(SIGPIPE, SIG_IGN)
    }
}
