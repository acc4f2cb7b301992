import Foundation
import Sealing
import TestSupport
import Testing

@testable import CacheCommand

/// Each subcommand that looks for caches, with the variables that say where they are.
@Suite(.serialized) struct LocationVariableTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let source = try workspace.file("records.ndjson", "{\"id\":\"k1\"}\n{\"id\":\"k2\"}\n")
        for name in ["c", "d"] {
            let words = ["warm", source, "--key", "id", "--cache", name, "--root", workspace.root, "--quiet"]
            try #require(RealTool.run(words).status == 0)
        }
        try workspace.warmEncrypted(from: source)
        try #require(RealTool.run(["export", folder, "--cache", "c", "--root", workspace.root]).status == 0)
    }

    private var folder: String { workspace.url.appending(path: "out").path }
    /// A place where there is nothing, and nothing can be made.
    private static let nowhere = "/dev/null/none"

    /// A command line of each subcommand with `--root`, which does the same each time.
    private static let lines: [String: String] = [
        "warm": "warm DIR/records.ndjson --key id --cache c --quiet", "caches": "caches", "list": "list --cache c",
        "get": "get k1 --cache c", "cat": "cat --cache c", "diff": "diff c d", "stats": "stats --cache c",
        "top": "top --once", "report": "report --cache c", "advise": "advise --cache c",
        "verify": "verify --cache c",
        "export": "export DIR/out --cache c --force", "import": "import DIR/out --cache c",
        "remove": "remove k1 --cache c --dry-run", "trim": "trim --max-size 1G --cache c",
        "compact": "compact --cache c", "rekey": "rekey --cache e --key-env KEY",
        "clear": "clear --cache d --yes", "dump": "dump k1 --cache c",
    ]

    @Test("Each subcommand with --root has a command line here")
    func complete() {
        let names = Command.subcommands.filter { subcommand in
            DeclaredArguments(of: subcommand.init()).options.contains { $0.declaration.name == "root" }
        }.map { $0.name }
        #expect(Set(names) == Set(Self.lines.keys))
    }

    /// The result of a run, without its figures, and without the line of a report that says where the cache is.
    private func run(_ words: [String], _ variables: [String: String] = [:]) throws -> [String] {
        let former = [
            "TYPED_CACHE_ROOT": "", "TYPED_CACHE_APP": "", "XDG_CACHE_HOME": workspace.url.path,
            "KEY": Workspace.key,
        ]
        let outcome = try RealTool.run(words, variables: former.merging(variables) { $1 })
        #expect(!outcome.wasSignalled)
        return ["\(outcome.status)"]
            + [outcome.output, outcome.errors].map { text in
                text.replacing(/<p class="quiet">(in|of) .*<\/p>/) { _ in "" }
                    .replacing(/[0-9,.:T]+Z?/) { _ in "0" }
            }
    }

    @Test(
        "The variables stand for --root and --app; the root comes first, and options before both",
        arguments: isLongRun ? lines.keys.sorted() : ["list", "top"]
    )
    func precedence(name: String) throws {
        if name == "rekey", !CipherAlgorithm.isAvailable { return }
        let line = try #require(Self.lines[name]).replacing("DIR", with: workspace.url.path)
        let words = line.split(separator: " ").map(String.init)
        let (root, nowhere) = (workspace.root, Self.nowhere)
        // The first look leaves an index, which takes room.
        _ = try run(words + ["--root", root])
        let expected = try run(words + ["--root", root])
        // A cache without a profile has no advice.
        #expect(expected[0] == (name == "advise" ? "1" : "0"), "\(expected)")
        let missing = try run(words, ["TYPED_CACHE_ROOT": nowhere])
        // With 1, `diff` says that two caches differ.
        #expect(missing[0] == (name == "diff" ? "2" : "1") && missing != expected, "\(missing)")

        #expect(try run(words, ["TYPED_CACHE_ROOT": root]) == expected)
        #expect(try run(words, ["TYPED_CACHE_ROOT": root, "TYPED_CACHE_APP": "nobody"]) == expected)
        let elsewhere = ["TYPED_CACHE_ROOT": nowhere, "TYPED_CACHE_APP": "nobody"]
        #expect(try run(words + ["--root", root], elsewhere) == expected)
        // Elsewhere the system alone says where an app's caches are.
        #if os(Linux)
            // The folder of the caches, in the one that has a folder for each app.
            #expect(try run(words, ["TYPED_CACHE_APP": "caches"]) == expected)
            #expect(try run(words + ["--app", "caches"], elsewhere) == expected)
        #endif
    }

    @Test("Where no option names a place and there is none yet, there are no caches")
    func firstUse() throws {
        let fresh = ["XDG_CACHE_HOME": workspace.url.path + "/fresh"]
        for words in [["caches"], ["top", "--once"], ["caches", "--all"], ["top", "--once", "--all"]] {
            let result = try run(words, fresh)
            #expect(result[0] == "0" && result[2].contains("there are no caches"), "\(result)")
            #expect(result[2].contains("use --all") == !words.contains("--all"), "\(result)")
        }
        let named = try run(["caches", "--app", "nobody"], fresh)
        #expect(named[0] == "1" && named[2].contains("No such file or directory"), "\(named)")
    }

    @Test("Where the environment names a server, lists of this machine's caches say so")
    func ignoredServer() throws {
        let variables = [PlaceOptions.variable: "redis://h", "TYPED_CACHE_ROOT": workspace.root]
        let note = "typed-cache: TYPED_CACHE_SHARED names a server; these caches are on this machine\n"
        for words in [["caches"], ["top", "--once"]] {
            let result = try RealTool.run(words, variables: variables)
            #expect(result.status == 0 && result.errors.hasPrefix(note), "\(result.errors)")
            let meant = try RealTool.run(words + ["--root", workspace.root], variables: variables)
            #expect(meant.status == 0 && !meant.errors.contains("server") && meant.output == result.output)
        }
    }

    @Test("A server's URL that cannot be used is told with its option or variable")
    func unusableServer() throws {
        let list = ["list", "--cache", "c"]
        for (words, variables, origin) in [
            (list, [PlaceOptions.variable: "foo"], PlaceOptions.variable),
            (list + ["--shared", "foo"], [PlaceOptions.variable: "bar"], "--shared"),
        ] {
            let result = try RealTool.run(words, variables: variables)
            #expect(result.status == 2 && result.errors.hasPrefix("typed-cache: \(origin): "), "\(result.errors)")
        }
    }

    @Test("Completions are those of the place that the variables name, or the line")
    func completions() throws {
        func names(_ line: String..., variables: [String: String]) throws -> String {
            try run(["complete", "--shell", "fish", "--", "list"] + line + ["--cache", ""], variables)[1]
        }
        let root = ["TYPED_CACHE_ROOT": workspace.root]
        #expect(try names(variables: root).contains("\0c\0"))
        #expect(try !names(variables: ["TYPED_CACHE_ROOT": Self.nowhere]).contains("\0c\0"))
        #expect(
            try names("--root", workspace.root, variables: ["TYPED_CACHE_ROOT": Self.nowhere]).contains("\0c\0")
        )
        #expect(try !names("--root", Self.nowhere, variables: root).contains("\0c\0"))
    }
}
