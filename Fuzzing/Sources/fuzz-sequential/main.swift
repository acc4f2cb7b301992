import Foundation
import FuzzKit

// Archives without keys, as trees and as objects: fuzz-sequential, or fuzz-sequential --seeds FOLDER to write samples.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--seeds" {
    let folder = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
    for sample in try SequentialTrial.samples() {
        try sample.data.write(to: folder.appending(path: "sequential-\(sample.name)"))
    }
    exit(0)
}
Fuzzer.run { try SequentialTrial.read($0) }
