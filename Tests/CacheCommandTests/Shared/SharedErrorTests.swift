import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing

@testable import CacheCommand

/// The command's messages where a server cannot be used, or may not be named.
@Suite(.enabled(if: RedisServer.isInstalled, "\(ServerCache.isMissing)"), .serialized)
struct SharedErrorTests {
    private let cache: ServerCache

    init() throws { cache = try ServerCache() }

    private func list(_ url: String) -> ToolRun {
        ToolRun(["list", "--cache", "c", "--shared", url], on: TypedCacheBackend())
    }

    @Test("A server that cannot be used is named with its fault and the remedy, and without the password")
    func unusable() async throws {
        let secret = ServerCache.password
        let guarded = try await RedisServer(["--requirepass", "hunter2@home"])
        let cases: [(url: String, status: CacheCommand.ExitStatus, words: [String])] = [
            ("redis://app:\(secret)@127.0.0.1:1/", .failure, ["127.0.0.1:1", "refused", "redis-cli"]),
            ("redis://app:\(secret)@127.0.0.1:\(guarded.port)/", .failure, ["WRONGPASS", "%40 stands for @"]),
            ("redis://127.0.0.1:\(guarded.port)/", .failure, ["NOAUTH", "password in the URL"]),
            ("redis://:\(secret)@127.0.0.1:\(guarded.port)/", .failure, ["no cache 'c'", "prefix"]),
            ("redis://app:\(secret)@/", .usage, ["host"]),
            ("redis://app:\(secret)@127.0.0.1/?prefix=a/b", .usage, ["prefix"]),
            ("redis://app:\(secret)@127.0.0.1/?hunter=1", .usage, ["hunter"]),
            ("redis://app:hunter2@home@127.0.0.1:1/", .failure, ["refused"]),
            ("redis://app:hunter2%zz@127.0.0.1/", .usage, ["password", "%25"]),
            ("http://app:\(secret)@127.0.0.1/", .usage, ["scheme", "redis://user:password@host"]),
            ("nonsense", .usage, ["redis://"]),
        ]
        for (url, status, words) in cases {
            let run = list(url)
            #expect(run.status == status, "\(url): \(run.errors.text)")
            for word in words { #expect(run.errors.text.contains(word), "\(url): \(run.errors.text)") }
            #expect(!run.errors.text.contains("hunter2") && run.output.text.isEmpty, "\(run.errors.text)")
            #expect(run.errors.text.split(separator: "\n").count == 1, "\(run.errors.text)")
        }
    }

    @Test("A server that is full says so")
    func full() async throws {
        let small = try await RedisServer(["--maxmemory", "2mb"])
        let run = ToolRun(
            ["warm", "-", "--key", "id", "--cache", "c", "--shared", "redis://127.0.0.1:\(small.port)/"],
            on: TypedCacheBackend(),
            input: ServerCache.records(20_000)
        )
        #expect(run.status == .failure)
        #expect(
            run.errors.text.contains("OOM") && run.errors.text.contains("maxmemory-policy"),
            "\(run.errors.text)"
        )
    }

    @Test(
        "A server that stops answers a warm that is under way with a failure, and what was acknowledged is counted"
    )
    func dying() async throws {
        let server = try await RedisServer()
        let url = "redis://127.0.0.1:\(server.port)/?soft_timeout=200ms&timeout=1s&connect_timeout=1s"
        let (process, output, errors) = try RealTool.start(
            ["warm", "-", "--key", "id", "--cache", "c", "--shared", url, "--print-keys"],
            input: {
                let pipe = Pipe.make()
                let records = Data(ServerCache.records(50_000).utf8)
                Thread.detachNewThread {
                    // The command may end before it has read all.
                    signal(SIGPIPE, SIG_IGN)
                    try? pipe.fileHandleForWriting.write(contentsOf: records)
                    try? pipe.fileHandleForWriting.close()
                }
                return pipe
            }()
        )
        var printed = try output.fileHandleForReading.read(upToCount: 1_000) ?? Data()
        server.kill()
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(outcome.status == 1 && !outcome.wasSignalled, "\(outcome.errors)")
        #expect(outcome.errors.contains("whether the server runs"), "\(outcome.errors)")
        #expect(outcome.errors.contains("saved") && outcome.lines.count < 50_000)
    }

    @Test("Values of other programs, damaged entries and copies are told apart, and nothing foreign is removed")
    func foreignValues() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(6))
        let names = try cache.entryNames()
        _ = try cache.ask(["SET", .text(names[0]), "nonsense"])
        _ = try cache.ask(["DEL", .text(names[1])])
        _ = try cache.ask(["LPUSH", .text(names[1]), "a"])
        // A copy under another key.
        let other = try #require(cache.ask(["GET", .text(names[3])]).bytes)
        _ = try cache.ask(["SET", .text(names[2]), .bytes(other)])
        // One byte changed, of the archive and of the footer.
        for (name, place) in [(names[4], 5), (names[5], -20)] {
            var bytes = try #require(cache.ask(["GET", .text(name)]).bytes)
            bytes[place < 0 ? bytes.count + place : place] ^= 1
            _ = try cache.ask(["SET", .text(name), .bytes(bytes)])
        }
        let stats = try cache.succeed("stats").output.text
        #expect(stats.contains("foreign  3, of other programs"), "\(stats)")
        for key in ["k0", "k1", "k2"] {
            let run = cache.run("get", key)
            #expect(run.status == .failure && run.errors.text.contains("another program"), "\(run.errors.text)")
        }
        let listed = try cache.succeed("list").output.lines
        #expect(listed.contains("k3") && !listed.contains("k0"))
        let verified = cache.run("verify", "--repair")
        #expect(verified.status == .failure)
        #expect(verified.output.text.contains("2 damaged, 3 not readable, 2 removed"), "\(verified.output.text)")
        #expect(try cache.entryNames() == [names[0], names[1], names[2], names[3]])
        let again = cache.run("verify", "--json")
        #expect(again.output.text.contains(#""sound":1"#) && again.output.text.contains(#""unreadable":3"#))
        try cache.succeed("remove", "k0", "k1", "k2")
        #expect(try cache.succeed("verify").output.text == "1 sound, 0 expired, 0 damaged\n")
    }

    @Test("Subcommands for this machine alone refuse a server in one sentence, by the option and by the variable")
    func refusals() throws {
        let sharing: Set = ["warm", "list", "get", "stats", "remove", "clear", "verify", "export", "import"]
        let url = cache.url
        for type in Command.listedSubcommands {
            let options = DeclaredArguments(of: type.init()).options.map(\.declaration.name)
            #expect(options.contains("shared") == sharing.contains(type.name), "\(type.name)")
            guard !sharing.contains(type.name), options.contains("root") else { continue }
            let run = ToolRun([type.name, "--shared", url, "x"], on: MemoryBackend())
            #expect(run.status == .usage, "\(type.name)")
            #expect(
                run.errors.text.contains("\(type.name) works on this machine's caches alone"),
                "\(run.errors.text)"
            )
            #expect(run.errors.text.contains("warm, list, get"), "\(run.errors.text)")
        }
        let words = ["--cache", "c"]
        let cases: [([String], String)] = [
            (["list", "--root", "r", "--shared", url] + words, "--root and --shared exclude each other"),
            (["list", "--app", "a", "--shared", url] + words, "--app and --shared exclude each other"),
            (["list", "--schema", "1", "--root", "r"] + words, "--schema is for caches on a server"),
            (["list", "--schema", "-1", "--shared", url] + words, "whole number"),
            (["list", "--shared", ""] + words, "the URL of a server"),
            (["warm", "-", "--key", "k", "--max-size", "1M", "--shared", url] + words, "--max-size and --shared"),
            (["warm", "-", "--key", "k", "--layout", "files", "--shared", url] + words, "--layout and --shared"),
            (["import", "d", "--layout", "files", "--shared", url] + words, "--layout and --shared"),
        ]
        for (words, message) in cases {
            let run = ToolRun(words, on: MemoryBackend())
            #expect(run.status == .usage && run.errors.text.contains(message), "\(words): \(run.errors.text)")
        }
    }

    @Test("The variable stands for --shared, and other options come before it")
    func variable() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(2))
        let workspace = try Workspace()
        let variables = [
            PlaceOptions.variable: cache.url, "TYPED_CACHE_ROOT": workspace.root, "TYPED_CACHE_APP": "",
        ]
        let words = ["--cache", cache.name]
        #expect(try RealTool.run(["list", "--schema", "0"] + words, variables: variables).lines.count == 2)
        let local = try RealTool.run(["list", "--root", workspace.root] + words, variables: variables)
        #expect(local.status == 1 && local.errors.contains("no cache 'c'"), "\(local.errors)")
        for line in [["trim", "--max-size", "1M"] + words, ["cat"] + words, ["diff", "c", "d"]] {
            let refused = try RealTool.run(line, variables: variables)
            #expect(refused.status == 2 && refused.errors.contains(PlaceOptions.variable), "\(refused.errors)")
            let meant = try RealTool.run(line + ["--root", workspace.root], variables: variables)
            let status: Int32 = line[0] == "diff" ? 2 : 1
            #expect(meant.status == status && meant.errors.contains("no cache"), "\(meant.errors)")
        }
        #expect(try RealTool.run(["caches", "--root", workspace.root], variables: variables).status != 2)
    }

    @Test("The timeouts of a tool are longer, where the URL has none, and messages have no user")
    func urls() {
        func place(_ url: String) -> SharedPlace { SharedPlace(url: url, origin: "--shared", schema: 0) }
        let tool = "timeout=10s&connect_timeout=3s&client_name=typed-cache"
        #expect(place("redis://h").urlForTool == "redis://h?\(tool)")
        #expect(place("redis://h/?").urlForTool == "redis://h/?\(tool)")
        #expect(place("redis://h/?prefix=p").urlForTool == "redis://h/?prefix=p&\(tool)")
        #expect(
            place("redis://h?timeout=1s").urlForTool
                == "redis://h?timeout=1s&connect_timeout=3s&client_name=typed-cache"
        )
        let full = "redis://h?soft_timeout=1s&connect_timeout=1s&client_name=n"
        #expect(place(full).urlForTool == full)
        #expect(place("redis://u:p@h:1/?prefix=p").shownURL == "redis://h:1/?prefix=p")
        #expect(place("redis://:p@@h").shownURL == "redis://h")
        #expect(place("redis://h/").shownURL == "redis://h/")
    }
}
