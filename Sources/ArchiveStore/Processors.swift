import Dispatch
import Foundation
import Synchronization

/// Work on many elements that is done on all processors at once.
package enum Processors {
    /// More parts than processors, so that one that is busy with other work does fewer of them.
    private static let partsPerProcessor = 4
    /// How many this process may use. Looked up once: that reads files of the system.
    package static let count = ProcessInfo.processInfo.activeProcessorCount
    /// Archiving, reading or decoding fewer entries takes about as long as having other threads do a part of it.
    package static let fewEntries = 32

    /// The results of `body` for the parts of a range, in their order: on several threads at once, one of which is the
    /// caller's. It returns when all are done.
    ///
    /// In a forked process, which has no other threads, and on one processor, the range is one part.
    ///
    /// - Parameter body: must not wait for another part.
    package static func map<Result: Sendable>(
        _ range: Range<Int>,
        _ body: @Sendable (Range<Int>) -> Result
    ) -> [Result] {
        let partCount = count > 1 && StoreUsage.hasQueues ? min(range.count, partsPerProcessor * count) : 1
        guard partCount > 1 else { return [body(range)] }
        let results = Mutex([Result?](repeating: nil, count: partCount))
        DispatchQueue.concurrentPerform(iterations: partCount) { part in
            let bounds = (part...part + 1).map { range.lowerBound + range.count * $0 / partCount }
            let result = body(bounds[0]..<bounds[1])
            results.withLock { $0[part] = result }
        }
        // Not by `compactMap`: in code that is generic over the results, the runtime looks for the conformances of their array,
        // which takes as long as decoding ten entries.
        let all = results.withLock { $0 }
        var found: [Result] = []
        found.reserveCapacity(partCount)
        for part in 0..<partCount { if let result = all[part] { found.append(result) } }
        return found
    }
}
