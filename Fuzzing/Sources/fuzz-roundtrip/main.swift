import ArchiveTrials
import FuzzKit

// What can be read is archived again, and read equal.
Fuzzer.run { try Trial.roundTrip($0) }
