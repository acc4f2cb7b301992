import Foundation
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The live view as a person meets it: the real command in a terminal.
@Suite(.serialized, .enabled(if: TerminalSession.isAvailable, "Scripts/test installs tmux"))
struct TopTerminalTests {
    private let workspace: Workspace
    private let cities: Cache<Line>
    private let others: [Cache<Line>]

    private struct Line: Codable, Encoded, Sendable { var text = "x" }

    init() throws {
        workspace = try Workspace()
        let root = URL(fileURLWithPath: workspace.root)
        func open(_ name: String) throws -> Cache<Line> {
            let disk = DiskSettings(byteLimit: .mebibytes(2), publishesStatistics: true)
            let cache = try Cache<Line>(name: name, directory: root, settings: CacheSettings(disk: disk))
            try cache.save(Line(), forKey: "a")
            for _ in 0..<3 { _ = try cache.fetch(forKey: "a") }
            _ = try cache.fetch(forKey: "b")
            cache.core.publishStatistics()
            return cache
        }
        cities = try open("cities")
        others = try ["長い名前", "pictures"].map(open)
    }

    /// A script that runs `top`, and tells afterwards how it ended and how the terminal is.
    private func start(_ columns: Int, _ rows: Int, variables: String = "") throws -> TerminalSession {
        let command = "\(try RealTool.executable.path) top --root '\(workspace.root)' --interval 0.2"
        let script = """
            unset NO_COLOR
            export LC_ALL=C.UTF-8 \(variables)
            echo BEFORE
            bash --norc -c 'echo $$ > \(workspace.url.path)/pid; exec \(command)'
            echo "STATUS=$?"
            stty -a | grep -o -w -e '-\\?icanon' -e '-\\?echo' -e '-\\?isig' | tr '\\n' ' '
            """
        return try TerminalSession(columns: columns, rows: rows, script: script, in: workspace.url)
    }

    private func isRestored(_ lines: [String], status: Int) -> Bool {
        let all = lines.joined(separator: "\n")
        let isPlain = all.contains("isig icanon echo") && !lines.contains { $0.hasPrefix("CACHE") }
        return all.contains("BEFORE") && all.contains("STATUS=\(status)") && isPlain
    }

    private var process: pid_t {
        get throws {
            let text = try String(contentsOf: workspace.url.appending(path: "pid"), encoding: .utf8)
            return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    @Test("Screens of three sizes fit; keys sort, filter and quit, and the terminal is as before")
    func screens() throws {
        let small = try start(40, 10)
        let usual = try start(80, 24)
        let large = try start(200, 60)
        for (session, columns, rows) in [(small, 40, 10), (usual, 80, 24), (large, 200, 60)] {
            let lines = try session.screen("\(columns)×\(rows)") { lines in
                lines.contains { $0.hasPrefix("cities") } && lines.contains { $0.hasPrefix("q quit") }
            }
            #expect(lines.prefix(rows).count == rows)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(lines)")
            #expect(lines[0].hasPrefix("typed-cache top  3 caches"))
            #expect(lines[rows - 1].hasPrefix("q quit"))
            #expect(lines.contains { $0.contains("75") && $0.hasPrefix("長い名前") })
        }
        #expect(try large.screen().contains { $0.hasPrefix("CACHE") && $0.contains("BUSY") && $0.contains("DISK") })
        #expect(try usual.screen(hasColor: true).contains { $0.contains("\u{1B}[7m") })
        #expect(try usual.screen().contains { $0.contains("/64M") })

        try usual.press("/", "p", "i", "c", "Enter")
        _ = try usual.screen("filtered") { lines in
            !lines.contains { $0.hasPrefix("cities") } && lines.contains { $0.hasPrefix("pictures") }
        }
        try usual.press("Escape")
        try usual.press("s")
        _ = try usual.screen("sorted") { $0[0].contains("by process") && $0.contains { $0.hasPrefix("cities") } }
        try usual.press("?")
        _ = try usual.screen("help") { $0.contains { $0.hasPrefix("r  reverse") } }
        try usual.press("q")
        try usual.resize(columns: 50, rows: 12)
        let resized = try usual.screen("resized") { lines in
            lines.count <= 13 && lines.contains { $0.hasPrefix("cities") } && lines[11].hasPrefix("q quit")
        }
        #expect(resized.allSatisfy { DisplayWidth.of($0) <= 50 })
        try usual.press("q")
        _ = try usual.screen("quit") { isRestored($0, status: 0) }
    }

    @Test("Ctrl-C, a signal and a lost terminal give the terminal back", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) throws {
        let session = try start(80, 24, variables: "NO_COLOR=1")
        _ = try session.screen("begun") { $0.contains { $0.hasPrefix("cities") } }
        #expect(try session.screen(hasColor: true).allSatisfy { !$0.contains("\u{1B}[") })
        if signal == SIGINT { try session.press("C-c") } else { kill(try process, signal) }
        _ = try session.screen("ended by \(signal)") { isRestored($0, status: 128 + Int(signal)) }
    }

    @Test("The rates of a process at work, and caches that go and come back")
    func rates() throws {
        let session = try start(120, 20)
        _ = try session.screen("begun") { $0.contains { $0.hasPrefix("cities") } }
        // Again at each look: rates are those of the last interval.
        _ = try session.screen("rates") { lines in
            for _ in 0..<500 { _ = try? cities.fetch(forKey: "a") }
            cities.core.publishStatistics()
            return lines.contains { $0.hasPrefix("cities") && $0.contains("100") }
                || lines[1].contains("k memory hits")
        }
        let (root, moved) = (workspace.root, workspace.root + "-moved")
        try FileManager.default.moveItem(atPath: root, toPath: moved)
        _ = try session.screen("gone") { $0.contains { $0.contains("cannot be read") } }
        try FileManager.default.moveItem(atPath: moved, toPath: root)
        _ = try session.screen("back") { lines in lines.contains { $0.hasPrefix("cities") } }
        try session.press("q")
        _ = try session.screen("quit") { isRestored($0, status: 0) }
    }

    @Test("Ctrl-Z gives the terminal back until the command goes on")
    func suspended() throws {
        let command = "\(try RealTool.executable.path) top --root '\(workspace.root)' --interval 0.2"
        let script = "export LC_ALL=C.UTF-8; PS1='READY>' exec bash --norc --noprofile -i"
        let session = try TerminalSession(columns: 100, rows: 24, script: script, in: workspace.url)
        _ = try session.screen("shell") { $0.contains { $0.hasPrefix("READY>") } }
        try session.press(command, "Enter")
        _ = try session.screen("begun") { $0.contains { $0.hasPrefix("cities") } }
        try session.press("C-z")
        _ = try session.screen("stopped") { $0.contains { $0.contains("Stopped") } }
        try session.press("fg", "Enter")
        _ = try session.screen("goes on") { lines in
            lines.contains { $0.hasPrefix("cities") } && lines[0].contains("top")
        }
        try session.press("q")
        _ = try session.screen("quit") {
            $0.contains { $0.hasPrefix("READY>") } && !$0.contains { $0.hasPrefix("CACHE") }
        }
    }
}
