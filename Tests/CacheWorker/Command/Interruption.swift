import Foundation
import Synchronization

/// Whether this process got SIGINT or SIGTERM. It stops soon, and cleans up first.
enum Interruption {
    private static let signal = Atomic<Int32>(0)

    /// The signal that came, or 0.
    static var arrived: Int32 { signal.load(ordering: .relaxed) }

    /// Lets a worker go on until its parent ends it: a terminal interrupts both.
    static func ignore() {
        Foundation.signal(SIGINT, SIG_IGN)
        Foundation.signal(SIGPIPE, SIG_IGN)
    }

    static func watch() {
        // Set up before a handler can see it.
        signal.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            Foundation.signal(number) { arrived in
                Interruption.signal.store(arrived, ordering: .relaxed)
            }
            // A process started by a worker thread begins with the blocked signals of that thread.
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, number)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
        }
    }
}
