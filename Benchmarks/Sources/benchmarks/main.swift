import BenchmarkKit
import Foundation

#if DEBUG
    FileHandle.standardError.write(
        Data("benchmarks: A debug build measures nothing; use swift run -c release benchmarks.\n".utf8)
    )
    exit(2)
#else
    exit(BenchmarkCommand(suites: Suites.all).run(Array(CommandLine.arguments.dropFirst())))
#endif
