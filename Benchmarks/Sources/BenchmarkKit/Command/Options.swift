/// A parsed command line.
package struct Options: Equatable {
    package enum Action: Equatable {
        /// Run these suites; all of them if there are none.
        case run(suites: [String])
        case list
        case help
        case compare(String, String)
        case report(String)
    }

    package private(set) var action = Action.run(suites: [])
    package private(set) var extent = Extent.full
    /// Where results go; `nil`: the package's own folder, or nowhere for quick runs.
    package private(set) var output: String?
    /// A file of bounds that must hold.
    package private(set) var gate: String?

    /// - Parameters:
    ///   - arguments: those after the command's name.
    ///   - suites: the names of all suites.
    package init(_ arguments: [String], suites: [String]) throws(UsageError) {
        var rest = arguments[...]
        var asked: [String] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": try measure(.quick)
            case "--once": try measure(.once)
            case "--list": try act(.list)
            case "--help", "-h": try act(.help)
            case "--output": output = try Self.operand("a folder", of: argument, in: &rest)
            case "--gate": gate = try Self.operand("a file", of: argument, in: &rest)
            case "--report": try act(.report(Self.operand("a file of results", of: argument, in: &rest)))
            case "--compare":
                let before = try Self.operand("two files of results", of: argument, in: &rest)
                try act(.compare(before, Self.operand("two files of results", of: argument, in: &rest)))
            case _ where argument.hasPrefix("-"):
                throw UsageError(message: "There is no option \(argument).")
            case _ where !suites.contains(argument):
                throw UsageError(
                    message: "There is no suite \(argument); there are \(suites.joined(separator: ", "))."
                )
            default: asked.append(argument)
            }
        }
        if !asked.isEmpty { try act(.run(suites: asked)) }
        if case .run = action {
            guard extent == .once, gate != nil else { return }
            throw UsageError(message: "--gate needs figures, and --once measures none; use --quick.")
        }
        if extent != .full || gate != nil {
            throw UsageError(message: "--quick, --once and --gate are for running suites only.")
        }
    }

    private mutating func measure(_ extent: Extent) throws(UsageError) {
        guard self.extent == .full else { throw UsageError(message: "Only one of --quick and --once is possible.") }
        self.extent = extent
    }

    private mutating func act(_ action: Action) throws(UsageError) {
        guard self.action == .run(suites: []) else {
            throw UsageError(message: "Only one of suites, --list, --compare, --report and --help is possible.")
        }
        self.action = action
    }

    private static func operand(
        _ kind: String,
        of option: String,
        in rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard let operand = rest.popFirst(), !operand.hasPrefix("-") else {
            throw UsageError(message: "\(option) needs \(kind).")
        }
        return operand
    }
}

/// The text that `--help` prints.
enum HelpText {
    static let text = """
        usage: benchmarks [suite …] [--quick | --once] [--output FOLDER] [--gate FILE]
               benchmarks --compare BEFORE.json AFTER.json
               benchmarks --report RESULTS.json [--output FOLDER]
               benchmarks --list | --help

        Measures the suites that are named, or all, and prints a table for each. Results go to the folder
        Benchmarks/Results, with a report if all suites ran.

          --quick          fewer and shorter samples; writes no results unless --output is given
          --once           do each work about once, to see that it runs; its figures mean nothing
          --output FOLDER  where results and report go instead
          --gate FILE      fail if a bound in this file does not hold
          --compare        show what became faster or slower from one file of results to another
          --report         draw the report from a file of results
          --list           show the suites
        """
}

/// A command line that cannot be followed.
package struct UsageError: Error, Equatable {
    /// A sentence for people.
    package let message: String
}
