import ArchiveTrials
import Foundation

// Writes the samples to a folder: fuzz-seeds FOLDER
guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: fuzz-seeds FOLDER\n".utf8))
    exit(2)
}
let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
for sample in try Trial.samples() {
    try sample.data.write(to: folder.appending(path: "sample-\(sample.name)"))
}
