import FuzzKit

// The property list with everything in it, and the tree.
Fuzzer.run { try TreeTrial.read([UInt8]($0)) }
