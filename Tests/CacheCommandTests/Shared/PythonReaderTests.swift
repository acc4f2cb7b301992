import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing

@testable import CacheCommand

/// The lines of Python in `docs/format.md` read an entry from a real server.
@Suite(.enabled(if: RedisServer.isInstalled, "\(ServerCache.isMissing)"))
struct PythonReaderTests {
    /// As much of the package redis as the lines use, for machines that do not have it.
    private static let client = """
        import socket
        class Redis:
            def __init__(self, host="127.0.0.1", port=6379):
                self.stream = socket.create_connection((host, port)).makefile("rwb")
            def get(self, name):
                name = name.encode()
                self.stream.write(b"*2\\r\\n$3\\r\\nGET\\r\\n$%d\\r\\n%s\\r\\n" % (len(name), name))
                self.stream.flush()
                size = int(self.stream.readline()[1:])
                return self.stream.read(size + 2)[:-2] if size >= 0 else None
        """

    /// The last block of Python in the section about entries on servers.
    private func documentedLines() throws -> String {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/format.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.split(separator: "\n# An entry on a server\n").dropFirst().first)
        let block = try #require(section.firstMatch(of: /```python\n((?s).*?)```/))
        return String(block.1)
    }

    @Test("Five lines of Python print the archive of an entry")
    func reading() throws {
        let (workspace, cache) = (try Workspace(), try ServerCache("cities"))
        try cache.succeed("warm", "-", "--key", "name", input: #"{"name":"Tokyo","population":9733276}"# + "\n")
        var lines = try documentedLines()
        #expect(lines.split(separator: "\n").count == 5)
        lines = lines.replacing("redis.Redis()", with: "redis.Redis(port=\(cache.server.port))")
            .replacing("tc:default:", with: "tc:\(cache.prefix):")
        let printed = try output(of: lines, in: workspace)
        #expect(printed?.contains("NSKeyedArchiver") != false, "\(printed ?? "")")
        #expect(printed?.contains("9733276") != false, "\(printed ?? "")")
    }

    /// Here only the package itself will do: it finds the nodes.
    @Test("The same lines with redis.RedisCluster print the archives of a cluster's entries")
    func readingAClusters() throws {
        let workspace = try Workspace()
        let cluster = try #require(RedisCluster.common)
        let prefix = "t\(UInt64.random(in: 0 ... .max))"
        let cities = ["Tokyo": 9_733_276, "Berlin": 3_426_354, "Lima": 7_737_002, "Oslo": 580_000, "Bern": 121_631]
        let input = cities.map { #"{"name":"\#($0)","population":\#($1)}"# + "\n" }.joined()
        let warm = ToolRun(
            ["warm", "-", "--key", "name", "--cache", "cities", "--shared", cluster.url + "?prefix=\(prefix)"],
            on: TypedCacheBackend(),
            input: input
        )
        try #require(warm.status == .success, "\(warm.errors.text)")
        let lines = try documentedLines()
        #expect(lines.contains("redis.Redis()") && lines.contains("{Tokyo}"))
        let program = try #require(lines.split(separator: "\n", maxSplits: 1).last)
            .replacing("redis.Redis()", with: #"redis.RedisCluster("127.0.0.1", \#(cluster.servers[0].port))"#)
            .replacing("tc:default:", with: "tc:\(prefix):")
        let programs = cities.keys.map { program.replacing("{Tokyo}", with: "{\($0)}") }
        let guarded = """
            import plistlib, zlib
            try:
                import redis; redis.RedisCluster
            except (ImportError, AttributeError):
                print("skipped: there is no package redis here"); raise SystemExit
            \(programs.joined(separator: "\n"))
            """
        guard let printed = try output(of: guarded, in: workspace) else { return }
        if printed.hasPrefix("skipped") { return print(printed) }
        let archives = printed.split(separator: "\n")
        #expect(archives.count == cities.count)
        for (archive, population) in zip(archives, cities.values) {
            #expect(archive.contains("NSKeyedArchiver") && archive.contains("\(population)"), "\(archive)")
        }
    }

    /// The text that a program prints; `nil` if there is no Python.
    private func output(of lines: String, in workspace: Workspace) throws -> String? {
        let program = try workspace.file("read.py", lines)
        // After the packages that are installed.
        let folder = workspace.url.appending(path: "stand-in")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.client.utf8).write(to: folder.appending(path: "redis.py"))
        let python = Process()
        let output = Pipe.make()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = [
            "python3", "-c", "import runpy, sys; sys.path.append(sys.argv[2]); runpy.run_path(sys.argv[1])",
            program,
            folder.path,
        ]
        python.standardOutput = output
        try python.start()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        python.waitUntilExit()
        if python.terminationStatus == 127 {
            print("skipped: there is no python3 here")
            return nil
        }
        #expect(python.terminationStatus == 0, "\(printed)")
        return printed
    }
}
