import Foundation

/// How the process ends.
package enum ExitStatus: Sendable, Equatable {
    case success
    case failure
    case usage
    /// By the signal that interrupted it, so that the process that started it sees why.
    case signal(Int32)

    /// Ends the process.
    package func endProcess() -> Never {
        switch self {
        case .success: exit(0)
        case .failure: exit(1)
        case .usage: exit(2)
        case .signal(let number):
            Foundation.signal(number, SIG_DFL)
            raise(number)
            exit(128 + number)
        }
    }
}
