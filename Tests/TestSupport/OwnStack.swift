import Foundation

/// Runs work on a thread with a stack of its own, and returns once it has ended.
///
/// - Parameter kibibytes: the size of the stack.
package func withStack(kibibytes: Int, _ work: @escaping @Sendable () -> Void) {
    let thread = Thread(block: work)
    thread.stackSize = kibibytes << 10
    thread.start()
    while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
}
