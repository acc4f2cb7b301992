import Foundation
import FuzzKit

// Caches with changed files: the first byte of an input chooses the layout, the rest the changes.
let trials = try [StoreTrial(.packed), StoreTrial(.packed, leavesIndex: true), StoreTrial(.files)]

Fuzzer.run { data in
    var edits = Edits(data)
    try trials[edits.number(below: trials.count)].run(&edits)
}
