import Foundation
import FuzzKit

// Caches whose files were changed: the first byte of an input says which layout, the rest how.
let trials = try [StoreTrial(.packed), StoreTrial(.packed, leavesIndex: true), StoreTrial(.files)]

Fuzzer.run { data in
    var edits = Edits(data)
    try trials[edits.number(below: trials.count)].run(&edits)
}
