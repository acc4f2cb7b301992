import Foundation
import Testing
import Workloads

/// Replays of the recorded traces beside what others got from them; only where the traces are.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"] != nil))
struct RecordedTraceTests {
    private func trace(_ name: String) throws -> Trace {
        let folder = try #require(ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"])
        return try TraceFile.read(URL(filePath: folder).appending(path: "\(name).\(TraceFile.pathExtension)"))
    }

    private func check(_ trace: Trace, _ entryCount: Int, _ published: [(String, Double)]) throws {
        let hits = [
            LRUReplay.name: LRUReplay.hits(in: trace, capacity: entryCount),
            FIFOReplay.name: FIFOReplay.hits(in: trace, capacity: entryCount),
            SieveReplay.name: SieveReplay.hits(in: trace, capacity: entryCount),
            BeladyReplay.name: BeladyReplay.hits(in: trace, capacity: entryCount),
        ]
        for (policy, percentage) in published {
            guard let hits = hits[policy] else { continue }
            #expect(abs(Double(hits) / Double(trace.requests.count) * 100 - percentage) <= 0.01, "\(policy)")
        }
    }

    @Test(arguments: PublishedHitRatios.cells)
    func replaysAgreeWithWhatIsPublished(cell: PublishedCell) throws {
        let published = Array(zip(PublishedHitRatios.policies, cell.percentages))
        try check(trace(cell.trace), cell.entryCount, published)
    }

    @Test func chainAgreesWithWhatIsPublished() throws {
        let chain = Trace.chain(try trace("corda_vaultservice"), try trace("lirs_loop"))
        try check(chain, PublishedHitRatios.chain.entryCount, PublishedHitRatios.chain.percentages)
    }
}
