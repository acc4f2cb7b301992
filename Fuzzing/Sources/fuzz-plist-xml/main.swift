import FuzzKit
import PropertyListTrials

Fuzzer.run { try PropertyListTrial.run($0, formats: [.xml]) }
