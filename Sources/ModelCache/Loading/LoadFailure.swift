import Synchronization

/// The failure of a load, which all tasks get that waited for it.
final class LoadFailure: Error {
    let cause: any Error
    private let isReported: Atomic<Bool>

    init(_ cause: any Error, isReported: Bool = false) {
        self.cause = cause
        self.isReported = Atomic(isReported)
    }

    /// Whether the caller is the first one to report it.
    func takeReport() -> Bool { !isReported.exchange(true, ordering: .relaxed) }

    /// The error that a caller of the cache gets.
    static func cause(of error: any Error) -> any Error { (error as? LoadFailure)?.cause ?? error }
}
