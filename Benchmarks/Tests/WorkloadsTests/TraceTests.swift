import Foundation
import Testing
import Workloads

struct TraceFileTests {
    /// Python: `zlib.compress(struct.pack("<4I", 0, 1, 258, 0xFFFFFFFE))`.
    private static let four = Data([
        0x78, 0x9C, 0x63, 0x60, 0x60, 0x60, 0x60, 0x04, 0x62, 0x26, 0x20, 0xF1, 0xEF, 0xFF, 0xFF, 0xFF,
        0x00, 0x0A, 0x25, 0x04, 0x00,
    ])

    @Test func numbersAreLittleEndian() throws {
        #expect(try TraceFile.requests(in: Self.four) == [0, 1, 258, 0xFFFF_FFFE])
    }

    /// Python: `zlib.compress(bytes(40_000))`: the output is far more than four times the input.
    @Test func longRunsOfOneKeyAreRead() throws {
        let zeros = try #require(
            Data(
                base64Encoded:
                    "eNrtwTEBAAAAwqD1T+1lC6AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAbnEAAAQ=="
            )
        )
        #expect(try TraceFile.requests(in: zeros) == [UInt32](repeating: 0, count: 10_000))
    }

    @Test func damagedStreamsAreRefused() {
        var damaged = Self.four
        damaged[damaged.count - 1] ^= 1
        #expect(throws: TraceError.damagedStream) { try TraceFile.requests(in: damaged) }
        #expect(throws: TraceError.damagedStream) { try TraceFile.requests(in: Self.four.dropLast(5)) }
        #expect(throws: TraceError.damagedStream) { try TraceFile.requests(in: Data()) }
    }

    /// Python: `zlib.compress(bytes(5))`.
    @Test func partOfANumberIsRefused() {
        let five = Data([0x78, 0x9C, 0x63, 0x60, 0x00, 0x02, 0x00, 0x00, 0x05, 0x00, 0x01])
        #expect(throws: TraceError.partialNumber) { try TraceFile.requests(in: five) }
    }
}

/// Replays of the recorded traces agree with published figures; only where the traces are.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"] != nil))
struct RecordedTraceTests {
    private func trace(_ name: String) throws -> Trace {
        let folder = try #require(ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"])
        return try TraceFile.read(URL(filePath: folder).appending(path: "\(name).\(TraceFile.pathExtension)"))
    }

    private func check(_ trace: Trace, entryCount: Int, published: [(String, Double)]) throws {
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
    func replaysAgreeWithPublishedRatios(cell: PublishedCell) throws {
        let published = Array(zip(PublishedHitRatios.policies, cell.percentages))
        try check(trace(cell.trace), entryCount: cell.entryCount, published: published)
    }

    @Test func chainAgreesWithPublishedRatios() throws {
        let chain = Trace.chain(try trace("corda_vaultservice"), try trace("lirs_loop"))
        let published = PublishedHitRatios.chain
        try check(chain, entryCount: published.entryCount, published: published.percentages)
    }
}
