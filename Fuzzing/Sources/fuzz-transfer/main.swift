import FuzzKit

// The frames of a stream, and the archives in them.
Fuzzer.run { try TransferTrial.receive($0) }
