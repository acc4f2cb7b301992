import BenchmarkKit

extension Subject {
    /// A subject that divides its repetitions among threads; the time is that of all of them divided by all
    /// repetitions. One thread is the caller's.
    static func parallel<Result>(
        _ name: String,
        isOurs: Bool = false,
        threads: Int,
        operation: @escaping @Sendable (_ index: Int) throws -> Result
    ) -> Subject {
        if threads == 1 { return Subject(name, isOurs: isOurs, operation: operation) }
        return .batch(name, isOurs: isOurs) { indices in
            try ParallelWork.perform(indices, threads: threads) { indices in
                for index in indices { blackHole(try operation(index)) }
            }
        }
    }
}
