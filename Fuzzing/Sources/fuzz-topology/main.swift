import FuzzKit

// Answers of a cluster's nodes, of which the first three describe the cluster.
Fuzzer.run { data in try TopologyTrial(bytes: [UInt8](data)).run() }
