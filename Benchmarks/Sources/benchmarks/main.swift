import Foundation

#if DEBUG
    FileHandle.standardError.write(
        Data("benchmarks: a debug build measures nothing; use swift run -c release\n".utf8)
    )
    exit(2)
#else
    let directory = FileManager.default.temporaryDirectory
        .appending(path: "benchmarks-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }

    print(Surroundings())
    let comparisons =
        try CoordinateWork.comparisons() + CityWork.comparisons() + CacheWork(directory: directory).comparisons()
    for comparison in comparisons {
        print()
        print(ResultTable(work: comparison.work, measurements: try comparison.measured()))
    }
#endif
