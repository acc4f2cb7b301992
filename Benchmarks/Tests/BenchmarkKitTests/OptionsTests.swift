import Testing

@testable import BenchmarkKit

@Suite struct OptionsTests {
    private let suites = ["archive", "memory"]

    @Test func suitesAndOptionsComeInAnyOrder() throws {
        let options = try Options(["--quick", "memory", "--gate", "gate.tsv", "archive"], suites: suites)
        #expect(options.action == .run(suites: ["memory", "archive"]))
        #expect(options.extent == .quick)
        #expect(options.gate == "gate.tsv")
        #expect(options.output == nil)
        #expect(try Options(["memory", "--once"], suites: suites).extent == .once)
        #expect(try Options([], suites: suites).extent == .full)
    }

    @Test func comparingTakesTwoFiles() throws {
        #expect(try Options(["--compare", "a", "b"], suites: suites).action == .compare("a", "b"))
    }

    @Test(
        arguments: [
            (["--fast"], "There is no option --fast."),
            (["disk"], "There is no suite disk; there are archive, memory."),
            (["--output"], "--output needs a folder."),
            (["--compare", "a"], "--compare needs two files of results."),
            (["--gate", "--quick"], "--gate needs a file."),
            (["memory", "--list"], "Only one of suites, --list, --compare, --report and --help is possible."),
            (["--report", "a", "--quick"], "--quick, --once and --gate are for running suites only."),
            (["--once", "--quick"], "Only one of --quick and --once is possible."),
            (["--once", "--gate", "a"], "--gate needs figures, and --once measures none; use --quick."),
        ]
    )
    func wrongCommandLinesAreToldInASentence(arguments: [String], message: String) {
        #expect(throws: UsageError(message: message)) { try Options(arguments, suites: suites) }
    }
}
