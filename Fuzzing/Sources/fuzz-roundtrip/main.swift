import ArchiveTrials
import FuzzKit

// Every input that can be read is archived again, and read equal.
Fuzzer.run { try Trial.roundTrip($0) }
