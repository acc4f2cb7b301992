import Foundation

/// The command `benchmarks`, for any set of suites.
package struct BenchmarkCommand {
    private let suites: [any Suite.Type]

    package init(suites: [any Suite.Type]) {
        self.suites = suites
    }

    /// Runs the command line, and returns the exit code: 0, 1 if something failed, 2 for a wrong command line.
    package func run(_ arguments: [String]) -> Int32 {
        do {
            return try run(Options(arguments, suites: suites.map { $0.name }))
        } catch let error as UsageError {
            Self.complain("\(error.message) See --help.")
            return 2
        } catch {
            Self.complain("\(error)")
            return 1
        }
    }

    private func run(_ options: Options) throws -> Int32 {
        switch options.action {
        case .help: print(HelpText.text)
        case .list: for suite in suites { print(Self.padded(suite.name), suite.summary) }
        case .compare(let before, let after):
            let earlier = try InputError.naming(before, Run.init(contentsOf:))
            let later = try InputError.naming(after, Run.init(contentsOf:))
            print(RunComparison(before: earlier, after: later).text)
        case .report(let path):
            let file = URL(filePath: path)
            let folder = options.output.map { URL(filePath: $0, directoryHint: .isDirectory) }
            let run = try InputError.naming(path, Run.init(contentsOf:))
            try report(run, from: file, to: folder ?? file.deletingLastPathComponent())
        case .run(let names):
            return try measure(suites.filter { names.isEmpty || names.contains($0.name) }, options)
        }
        return 0
    }

    private func measure(_ suites: [any Suite.Type], _ options: Options) throws -> Int32 {
        // Read first: after all the measuring it would be too late to learn that the file cannot be read.
        let gate = try options.gate.map { path in
            try InputError.naming(path) { try Gate(text: String(contentsOf: $0, encoding: .utf8)) }
        }
        var run = Surroundings.makeRun(isQuick: options.extent != .full, folder: PackageFolder.url)
        var isFine = true
        let folders = ScratchFolders()
        defer { folders.removeAll() }
        folders.removeOnInterruption()
        let line = ProgressLine()
        let traces = ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"]
        for suite in suites {
            let context = Context(
                suite: suite.name,
                extent: options.extent,
                traces: traces.map { URL(filePath: $0, directoryHint: .isDirectory) },
                folders: folders,
                line: line
            )
            line.begin(suite: suite.name, summary: suite.summary)
            do {
                try suite.init().run(context)
            } catch {
                // The other suites' figures are worth having all the same.
                isFine = false
                run.failedSuites?.append(suite.name)
                line.clear()
                Self.complain("The suite \(suite.name) failed: \(error)")
            }
            line.clear()
            run.findings += context.findings
            print(SuiteTable(suite: suite.name, findings: context.findings).text)
            fflush(nil)
        }
        if let output = outputFolder(options) {
            // The package's own report stays whole.
            let isWhole = suites.count == self.suites.count && run.failedSuites == []
            let isReported = options.output != nil || isWhole
            try write(run, to: output, isReported: isReported)
        }
        for breach in gate?.breaches(in: run) ?? [] {
            isFine = false
            Self.complain(breach)
        }
        return isFine ? 0 : 1
    }

    private func write(_ run: Run, to folder: URL, isReported: Bool) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: run.fileName)
        try run.write(to: file)
        print("Results are in \(file.path).")
        if isReported {
            try report(run, from: file, to: folder)
            print("The report is latest.md beside them.")
        }
    }

    private func report(_ run: Run, from file: URL, to folder: URL) throws {
        try Report.write(run, from: file, suites: suites.map { $0.name }, to: folder)
    }

    private func outputFolder(_ options: Options) -> URL? {
        if let output = options.output { return URL(filePath: output, directoryHint: .isDirectory) }
        guard options.extent == .full else { return nil }
        return PackageFolder.url.appending(path: "Results", directoryHint: .isDirectory)
    }

    private static func padded(_ name: String) -> String {
        name.padding(toLength: max(name.count, 12), withPad: " ", startingAt: 0)
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("benchmarks: \(text)\n".utf8))
    }
}

/// A file that was named on the command line and cannot be used.
struct InputError: Error, CustomStringConvertible {
    let path: String
    let cause: any Error

    var description: String {
        switch cause {
        case is DecodingError: "\(path) is not a file of results."
        case let error as GateError: "\(path) cannot be used. \(error)"
        default: "\(path) cannot be read: \(cause.localizedDescription)"
        }
    }

    /// Reads a file; the error names the file if reading fails.
    static func naming<Content>(_ path: String, _ read: (URL) throws -> Content) throws(InputError) -> Content {
        do {
            return try read(URL(filePath: path))
        } catch {
            throw InputError(path: path, cause: error)
        }
    }
}

/// The folder of this package: results, scripts and other programs' sources are there, and runs name the commit of its
/// checkout.
package enum PackageFolder {
    /// `Benchmarks` below the nearest folder above the executable that has it, with a manifest; without one, the working
    /// directory. The executable is in the build folder of the package that has `Benchmarks` within.
    package static let url: URL = {
        let manager = FileManager.default
        var folder = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let package = folder.appending(path: "Benchmarks", directoryHint: .isDirectory)
            if manager.fileExists(atPath: package.appending(path: "Package.swift").path) { return package }
        }
        return URL(filePath: manager.currentDirectoryPath, directoryHint: .isDirectory)
    }()
}
