import BenchmarkKit
import Foundation
import Synchronization

/// Work that tasks have done together in a while.
struct RemoteWork {
    let perSecond: Double
    /// Processor time of the client's process for each operation, of user and system, in microseconds.
    let processorTime: Double

    /// Has tasks repeat an operation for a time.
    ///
    /// - Parameters:
    ///   - weight: how many operations count for one.
    ///   - body: the operation; told its number, which no other one has.
    /// - Throws: the first error.
    static func measure(
        tasks: Int,
        for seconds: Double,
        weight: Int = 1,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) throws -> RemoteWork {
        let isOver = OverFlag()
        let cpu = ProcessorTime.ofProcess
        let start = ContinuousClock.now
        let count = try BlockingTask.run {
            let timer = Task.detached {
                try await Task.sleep(for: .seconds(seconds))
                isOver.set()
            }
            defer { timer.cancel() }
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        var done = 0
                        while !isOver.isSet {
                            try await body(task + done * tasks)
                            done += 1
                        }
                        return done
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        return RemoteWork(count * weight, ContinuousClock.now - start, cpu: ProcessorTime.ofProcess - cpu)
    }

    /// As ``measure(tasks:for:weight:_:)``, by this thread alone.
    static func measureBlocking(for seconds: Double, _ body: (Int) throws -> Void) throws -> RemoteWork {
        let cpu = ProcessorTime.ofProcess
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        var count = 0
        while ContinuousClock.now < end {
            try body(count)
            count += 1
        }
        return RemoteWork(count, ContinuousClock.now - start, cpu: ProcessorTime.ofProcess - cpu)
    }

    init(_ count: Int, _ time: Duration, cpu: Duration) {
        perSecond = Double(count) / (time / .seconds(1))
        processorTime = cpu / .microseconds(1) / Double(count)
    }

    init(perSecond: Double, processorTime: Double) {
        self.perSecond = perSecond
        self.processorTime = processorTime
    }
}

private final class OverFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// The time that processors have worked for this process.
enum ProcessorTime {
    static var ofProcess: Duration {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        return of(usage)
    }

    /// User and system together.
    static func of(_ usage: rusage) -> Duration {
        [usage.ru_utime, usage.ru_stime].reduce(.zero) {
            $0 + .seconds(Int($1.tv_sec)) + .microseconds(Int($1.tv_usec))
        }
    }
}

/// Waits for asynchronous work on a thread that is not a task's.
enum BlockingTask {
    static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let done = DispatchSemaphore(value: 0)
        let outcome = OutcomeBox<Result>()
        Task.detached {
            do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
            done.signal()
        }
        done.wait()
        return try outcome.get()
    }
}

private final class OutcomeBox<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)

    func set(_ new: Result<Value, any Error>) { outcome.withLock { $0 = new } }

    func get() throws -> Value {
        guard let outcome = outcome.withLock({ $0 }) else { throw BenchmarkError("a task has no outcome") }
        return try outcome.get()
    }
}
