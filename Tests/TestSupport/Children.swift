import Foundation
import Synchronization

/// Held while a process is started or a pipe is made.
///
/// Foundation looks which descriptors are open, and closes these in the new process: a descriptor that another thread
/// opens in between is inherited. If a server has inherited the writing end of a pipe, the pipe does not end before the
/// server does, and its reader waits until then.
private let descriptors = Mutex(())

extension Process {
    /// Starts the process, as `run()` does; it inherits no pipe that another thread makes in the meantime.
    package func start() throws { try descriptors.withLock { _ in try run() } }
}

extension Pipe {
    /// Makes a pipe that a process inherits only if the pipe is given to it.
    package static func make() -> Pipe { descriptors.withLock { _ in Pipe() } }
}

/// Opens descriptors by calls of the system, which no process inherits then.
package func openingDescriptors<Result>(_ body: () throws -> sending Result) rethrows -> sending Result {
    try descriptors.withLock { _ in try body() }
}
