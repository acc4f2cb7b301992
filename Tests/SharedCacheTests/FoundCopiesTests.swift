import TestSupport
import Testing

@testable import ArchiveStore
@testable import SharedCache

/// Copies on a near disk beside an engine that other processes change, too, and that answers readings which are under
/// way at once in any order.
@Suite struct FoundCopiesTests {
    private struct Operation {
        let start: NearCopies.Start
        let isWrite: Bool
        /// The place of the engine's entry in its history when the engine was reached.
        var place: Int?
        /// Whether its caller has been given the entry that it found.
        var isGiven = false
    }

    /// After a caller was given an entry, or none, no copy of an earlier one is verified, though nothing tells of
    /// the changes of other processes.
    @Test(arguments: seeds(0..<2_000)) func noCopyIsVerifiedThatIsOlderThanWhatACallerWasGiven(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let key = KeyDigest(high: 0, low: 1)
        var copies = NearCopies()
        // The versions that the engine had, one after another; 0 for no entry.
        var history: [UInt64] = [0]
        var underWay: [Operation] = []
        var given = 0
        // The place of the copy on the disk; `nil` if there is none.
        var copy: Int?
        for step in 0..<200 {
            let chosen = underWay.indices.randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                let start = copies.beginRead(key, isHeard: true)
                if underWay.count < 4 {
                    underWay.append(Operation(start: start, isWrite: false))
                } else {
                    copies.endRead(key, start, verified: nil)
                }
            case 3:
                if underWay.contains(where: { $0.isWrite }) { continue }
                underWay.append(Operation(start: copies.beginWrite(key, isHeard: true), isWrite: true))
            case 4: history.append(Bool.random(using: &random) ? 0 : UInt64(history.count))
            // Now and then a change is announced.
            case 5: copies.doubt(key)
            default:
                guard let chosen else { continue }
                let operation = underWay[chosen]
                guard let place = operation.place else {
                    if operation.isWrite { history.append(UInt64(history.count)) }
                    underWay[chosen].place = history.count - 1
                    continue
                }
                let version = history[place]
                if !operation.isWrite, !operation.isGiven {
                    copies.find(key, version)
                    underWay[chosen].isGiven = true
                } else {
                    // The disk is written later.
                    underWay.remove(at: chosen)
                    let isKept = version != 0 && copies.isCurrent(key, operation.start)
                    if isKept { copy = place }
                    if operation.isWrite {
                        copies.endWrite(key, operation.start, verified: isKept ? version : nil)
                    } else {
                        copies.endRead(key, operation.start, verified: isKept ? version : nil)
                    }
                }
                if !operation.isWrite || !underWay.contains(where: { $0.isWrite }) { given = max(given, place) }
            }
            guard let copy else { continue }
            let isOlder = copy < given
            #expect(!(isOlder && copies.isVerified(key, version: history[copy])), "seed \(seed), step \(step)")
        }
    }
}
