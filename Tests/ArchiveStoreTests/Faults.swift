import TestSupport

/// The faults found by any thread of a test.
typealias Faults = Recorder<String>
