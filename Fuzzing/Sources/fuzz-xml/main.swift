import ArchiveTrials
import FuzzKit

// XML by its seeds: the tree, and objects and values.
Fuzzer.run { data in
    try TreeTrial.read([UInt8](data))
    try Trial.unarchive(data)
    try Trial.decode(data)
}
