import BenchmarkKit
import Foundation

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == SharedWorker.argument {
    exit(SharedWorker.run(CommandLine.arguments[2]))
}
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == FirstScreen.argument {
    exit(FirstScreen.run(CommandLine.arguments[2], in: CommandLine.arguments[3]))
}

#if DEBUG
    // Run once, which tries the suites and measures nothing, is all that such a build is for.
    if !CommandLine.arguments.contains("--once") {
        FileHandle.standardError.write(
            Data(
                "benchmarks: A debug build measures nothing, and runs with --once alone; use swift run -c release benchmarks.\n"
                    .utf8
            )
        )
        exit(2)
    }
#endif

/// All suites, in the order in which they run.
let suites: [any Suite.Type] = [
    ArchiveSuite.self,
    UnarchiveSuite.self,
    CompressSuite.self,
    MemorySuite.self,
    ObservingSuite.self,
    DiskSuite.self,
    EncryptionSuite.self,
    LargeSuite.self,
    HitRatioSuite.self,
    ScaleSuite.self,
    SteadySuite.self,
    WarmSuite.self,
    ModelsSuite.self,
    TransferSuite.self,
    PropertyListSuite.self,
    SharedSuite.self,
]
exit(BenchmarkCommand(suites: suites).run(Array(CommandLine.arguments.dropFirst())))
