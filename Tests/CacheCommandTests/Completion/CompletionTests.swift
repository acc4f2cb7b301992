import Foundation
import Testing

@testable import CacheCommand

/// The answers that shells get, without the shells.
struct CompletionTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func answer(_ line: String) -> CompletionAnswer {
        let words = ShellWords(line, variables: [:]).words.map(\.text)
        let environment = CommandEnvironment.process(backend: TypedCacheBackend())
        return CompletionRequest(words: words.dropFirst().dropLast(), current: words.last ?? "").answer(
            in: environment
        )
    }

    private func texts(_ line: String) -> [String] { answer(line).candidates.map(\.text) }

    private func fill(_ keys: [String]) throws -> String {
        let lines = try keys.map { String(decoding: try JSONEncoder().encode(["id": $0]), as: UTF8.self) }
        let source = try workspace.file("records.ndjson", lines.joined(separator: "\n"))
        let outcome = try RealTool.run(["warm", source, "--key", "id", "--cache", "c d", "--root", workspace.root])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return "--root \(workspace.root) --cache 'c d'"
    }

    @Test("Each subcommand that help lists completes, and so does each of its options")
    func declarations() {
        #expect(texts("typed-cache ") == Command.listedSubcommands.map { $0.name })
        #expect(!texts("typed-cache ").contains("complete"))
        #expect(texts("typed-cache --") == ["--help", "--version"])
        for type in Command.listedSubcommands {
            let options = DeclaredArguments(of: type.init()).allOptions
            #expect(texts("typed-cache \(type.name) --") == options.map(\.declaration.spelling))
            for option in options {
                #expect(
                    texts("typed-cache \(type.name) \(option.declaration.spelling)").contains(
                        option.declaration.spelling
                    )
                )
                #expect(!option.declaration.help.isEmpty)
            }
        }
    }

    @Test(
        "Values are those that the declaration takes",
        arguments: [
            ("list --sort ", ["key", "stored", "expires", "size"]), ("list --sort s", ["stored", "size"]),
            ("list --sort=s", ["--sort=stored", "--sort=size"]), ("warm --layout p", ["packed"]),
            ("help li", ["list", "lint"]), ("completions f", ["fish"]), ("nothing ", []), ("list --limit ", []),
            ("list --root x --a", []), ("list --json --j", []), ("stats --json --cac", ["--cache"]),
            ("list -- --", []),
        ]
    ) func values(line: String, expected: [String]) {
        #expect(texts("typed-cache " + line) == expected)
    }

    @Test("Files and directories are the shell's work")
    func files() {
        #expect(answer("typed-cache lint ").files == .files)
        #expect(answer("typed-cache list --root ").files == .directories)
        #expect(answer("typed-cache dump ").files == .files)
        #expect(answer("typed-cache dump --cache c --root /none ") == CompletionAnswer())
    }

    @Test("Names and keys come from the caches; keys that are given, or look like options, are left out")
    func keys() throws {
        let keys = ["user/7", "user/8 b", "it's", "pay$me", "two\nlines", "-dash"]
        let cache = try fill(keys)
        #expect(texts("typed-cache list --root \(workspace.root) --cache ") == ["c d"])
        #expect(texts("typed-cache get \(cache) ") == keys.filter { $0 != "-dash" }.sorted())
        #expect(texts("typed-cache get \(cache) user") == ["user/7", "user/8 b"])
        #expect(texts("typed-cache get \(cache) user/7 user") == ["user/8 b"])
        #expect(texts("typed-cache get \(cache) -- -d") == ["-dash"])
        #expect(texts("typed-cache get --cache none --root \(workspace.root) ") == [])
        #expect(texts("typed-cache get ") == [])
    }

    @Test("Of many keys a bounded number comes")
    func bound() throws {
        let cache = try fill((0..<300).map { "k\($0)" })
        #expect(texts("typed-cache get \(cache) ").count == CompletionRequest.mostCandidates)
        #expect(texts("typed-cache get \(cache) k299") == ["k299"])
    }

    @Test(
        "A line is split as shells split it, quotes that are open included",
        arguments: [
            ("a b", ["a", "b"]), ("a ", ["a", ""]), ("a 'b c", ["a", "b c"]), (#"a "b \"c"#, ["a", #"b "c"#]),
            (#"a b\ c"#, ["a", "b c"]), (#"a $'x\ny\'z'w"#, ["a", "x\ny'zw"]), ("~/x ~y", ["/home/x", "~y"]),
            ("$V/x '$V' \"${V}w\" $NONE", ["v 1/x", "$V", "v 1w", "$NONE"]), ("\\", ["\\"]), ("''", [""]),
            ("$(rm)", ["$(rm)"]),
        ]
    ) func words(line: String, expected: [String]) {
        #expect(ShellWords(line, variables: ["HOME": "/home", "V": "v 1"]).words.map(\.text) == expected)
    }

    /// The law that makes the insertions of bash right, for every key and every beginning of it.
    @Test("A word and the rest of it, quoted, are read back as the key", arguments: ["", "'", "\"", "$'"])
    func quoting(opening: String) {
        let keys = [
            "a b", "it's", #"q"q"#, "p$HOME", "l\nm", "t\tb", #"back\s"#, "x!y", "`ls`", "ü(1)", "\u{1B}[",
            "*?{}~#;&|<>",
        ]
        for key in keys {
            for kept in 0...key.unicodeScalars.count {
                let scalars = Array(key.unicodeScalars)
                let beginning = String(String.UnicodeScalarView(scalars[..<kept]))
                let quote = ShellWords(opening).words[0].quote
                let typed = opening + ShellQuoting(beginning, within: quote).description
                let open = ShellWords(typed, variables: [:]).words[0]
                let rest = String(String.UnicodeScalarView(scalars[kept...]))
                let line = typed + ShellQuoting(rest, within: open.quote).description
                #expect(ShellWords(line, variables: [:]).words.map(\.text) == [key], "\(line)")
            }
        }
    }

    @Test("bash gets only the end that it replaces, quoted; zsh and fish get values and meanings")
    func records() throws {
        let cache = try fill(["a:b c", "t\tx"])
        func run(_ arguments: String...) throws -> [String] {
            let output = try RealTool.run(["complete"] + arguments).output
            return output.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
        }
        let line = "X=1 typed-cache get \(cache) "
        #expect(try run("--shell", "bash", "--word=b", "--", "typed-cache", line + "a:b") == ["none", #"b\ c"#])
        #expect(try run("--shell", "bash", "--word=a:b", "--", "typed-cache", line + "\"a:b") == ["none", "a:b c"])
        #expect(try run("--shell", "bash", "--word=t", "--", "typed-cache", line + "t") == ["none", #"t$'\t'x"#])
        #expect(try run("--shell", "bash", "--word=no", "--", "typed-cache", line + "t") == ["none"])
        #expect(try run("--shell", "zsh", "--", "typed-cache", line + "t") == ["none", "t\tx", ""])
        #expect(
            try run("--shell", "fish", "--", "list", "--lon") == [
                "none", "--long\tShow when each entry was stored, expires, and its size",
            ]
        )
        #expect(
            try run("--shell", "fish", "--", "get", "--cache", "c d", "--root", workspace.root, "t") == ["none"]
        )
    }
}
