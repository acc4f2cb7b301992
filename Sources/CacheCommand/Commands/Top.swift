import Foundation
import KeyedArchive
import TypedCache

/// `top`: shows the work of running processes on their caches.
struct Top: Subcommand {
    static let name = "top"
    static let summary = "Watch the caches of running apps: hits, misses, saves and loads per second"
    static let discussion: String? =
        "Shows each cache and each process that has it open and publishes its statistics, which an app does "
        + "with DiskSettings(publishesStatistics: true). On a terminal, draws the screen at each interval; the "
        + "keys are q quit, s sort, r reverse, / filter, space pause, ? help. Otherwise prints a table at each "
        + "interval; the first one has the counts since each cache was opened. A killed process is shown as "
        + "ended until another one opens the cache, a stopped process as silent."
    static let examples = [
        CommandExample(arguments: ["top", "--app", "atlas"], meaning: "Watch an app's caches"),
        CommandExample(arguments: ["top", "--all", "--once"], meaning: "See which processes have caches open"),
        CommandExample(
            arguments: ["top", "--app", "atlas", "--json", "--interval", "10"],
            meaning: "Feed a monitor with a line for each cache and process, every 10 seconds"
        ),
    ]

    let location = LocationOptions()
    @Flag("all", help: "Show the caches of all apps of this user") var showsAllApps: Bool
    @Option(
        "interval",
        value: "SECONDS",
        help: "Time from one look to the next, 0.1 to 3600",
        standard: "1",
        parse: RefreshInterval.init(parsing:)
    )
    var givenInterval: RefreshInterval?
    @Flag("once", help: "Print one table, with the counts since each cache was opened") var isOnce: Bool
    @Flag("json", help: "Print a line of JSON for each cache and process at each interval") var writesJSON: Bool

    private var interval: Duration { givenInterval?.time ?? .seconds(1) }

    func validate() throws(ArgumentError) {
        if showsAllApps, location.root != nil { throw Self.failure(.conflictingOptions("--all", "--root")) }
        if showsAllApps, location.app != nil { throw Self.failure(.conflictingOptions("--all", "--app")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        if !showsAllApps { location.reportIgnoredServer(on: environment.errors) }
        if !isOnce, !writesJSON, let terminal = environment.openTerminal() {
            return try watch(on: terminal, environment)
        }
        return try print(in: environment)
    }

    /// All caches at this moment.
    private func look(_ environment: CommandEnvironment) throws -> LiveSample {
        var places: [(app: String?, location: CacheLocation)] = [(nil, location.location)]
        if showsAllApps { places = environment.backend.apps().map { ($0, .app($0)) } }
        return try LiveSample(places, in: environment.backend, at: environment.date())
    }

    // MARK: Lines

    private func print(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = isOnce ? nil : environment.trapSignals()
        var history = LiveHistory()
        var reported: Set<String> = []
        var isFirst = true
        while true {
            let began = environment.now()
            let sample = try look(environment)
            history.add(sample)
            for fault in sample.faults where reported.insert(fault).inserted { environment.errors.report(fault) }
            if isFirst, history.rows.isEmpty, sample.faults.isEmpty {
                environment.errors.report(nothing(sample))
            }
            if writesJSON {
                for row in history.rows { try environment.write(row.json(at: sample.date)) }
            } else {
                try write(history.rows, isFirst: isFirst, environment)
            }
            if isOnce { return sample.faults.isEmpty ? .success : .failure }
            try environment.output.flush()
            isFirst = false
            if let signal = Self.wait(interval - (environment.now() - began), interruption) {
                return .signal(signal)
            }
        }
    }

    private func write(_ rows: [LiveRow], isFirst: Bool, _ environment: CommandEnvironment) throws(OutputError) {
        let table = LiveTable(isUnicode: true, showsRates: !isFirst)
        let (heading, lines) = table.lines(LiveView().chosen(rows), width: nil)
        if !isFirst { try environment.output.write("\n") }
        for line in [heading] + lines {
            var line = line
            while line.last == " " { line.removeLast() }
            try environment.output.write(line + "\n")
        }
    }

    private func nothing(_ sample: LiveSample) -> String {
        sample.quietCaches.isEmpty
            ? Caches.nothing(inAllApps: showsAllApps)
            : "no process publishes statistics of \(CountText(sample.quietCaches.count, "cache", plural: "caches")); "
                + "an app does so with DiskSettings(publishesStatistics: true)"
    }

    /// Waits, and returns the signal that ended the wait; `nil` if none did.
    private static func wait(_ time: Duration, _ interruption: (any Interruption)?) -> Int32? {
        if let signal = interruption?.signal { return signal }
        var waiting = [pollfd(fd: interruption?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
        poll(&waiting, 1, Int32(clamping: Int64(max(0, time.inSeconds) * 1_000)))
        return interruption?.signal
    }

    // MARK: The screen

    private func watch(on terminal: any ScreenTerminal, _ environment: CommandEnvironment) throws -> ExitStatus {
        var screen = LiveScreen(
            sample: try look(environment),
            rows: [],
            view: LiveView(),
            interval: interval,
            isUnicode: terminal.isUnicode
        )
        var history = LiveHistory()
        history.add(screen.sample)
        terminal.begin()
        defer { terminal.end() }
        var next = environment.now() + interval
        while true {
            screen.rows = history.rows
            try draw(screen, on: terminal)
            let event = terminal.wait(next - environment.now())
            switch event {
            case .signal(let signal): return .signal(signal)
            case .closed: return .success
            case .changed: terminal.begin()
            case .none: break
            case .keys(let keys):
                for key in keys {
                    switch screen.view.press(key) {
                    case .quit: return key == .interrupt ? .signal(SIGINT) : .success
                    case .suspend: terminal.suspend()
                    case .draw, nil: break
                    }
                }
            }
            guard environment.now() >= next else { continue }
            next = environment.now() + interval
            guard !screen.view.isPaused else { continue }
            screen.sample = lookAgain(environment)
            history.add(screen.sample)
        }
    }

    private func draw(_ screen: LiveScreen, on terminal: any ScreenTerminal) throws(OutputError) {
        let lines = screen.lines(columns: terminal.columns, rows: terminal.rows)
        try terminal.draw(LiveScreen.drawing(lines, hasColor: terminal.hasColor))
    }

    /// As ``look(_:)``, but a failure is part of the screen: the caches may come back.
    private func lookAgain(_ environment: CommandEnvironment) -> LiveSample {
        do {
            return try look(environment)
        } catch {
            return LiveSample(date: environment.date(), faults: ["\(CommandFailureMessage(error))"])
        }
    }
}

/// A time from one look to the next, as written on a command line: seconds, with a point if need be.
struct RefreshInterval: Sendable, Equatable {
    let time: Duration

    init(parsing text: String) throws(InvalidValue) {
        let isPlain = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        guard isPlain, let seconds = Double(text), (0.1...3_600).contains(seconds) else {
            throw InvalidValue(text, expected: "a number of seconds from 0.1 to 3600")
        }
        time = .seconds(seconds)
    }
}
