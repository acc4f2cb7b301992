import Testing

@testable import CacheCommand

struct CommandRunTests {
    private let backend = MemoryBackend()
    private let cache = ["--cache", "c"]

    init() throws {
        for key in ["b\n", "a"] {
            let record = Record(fields: [RecordField(name: "k", value: .string(key))])
            try backend.save(.fields(record), forKey: key)
        }
    }

    @Test("Keys are listed, one per line, escaped; or as a table; or as JSON")
    func list() {
        #expect(ToolRun(["list", "--sort", "key"] + cache, on: backend).output.lines == ["a", "b\\n"])
        #expect(
            ToolRun(["list", "--long", "--sort", "key"] + cache, on: backend).output.text == """
                STORED                EXPIRES                  SIZE  KEY
                1970-01-01T00:00:00Z  never                 1.5 KiB  a
                1970-01-01T00:00:00Z  2100-01-01T00:00:00Z  1.5 KiB  b\\n

                """
        )
        let json = ToolRun(["list", "--json", "--sort", "key"] + cache, on: backend).output.text
        #expect(json.hasPrefix("[\n  {\n    \"key\": \"a\",\n"))
        #expect(json.contains("\"key\": \"b\\n\"") && json.contains("\"expiresAt\": null"))
    }

    @Test("A record is shown as JSON; one that is not there fails")
    func get() {
        #expect(ToolRun(["get", "a"] + cache, on: backend).output.text == "{\n  \"k\": \"a\"\n}\n")
        #expect(ToolRun(["get", "a", "--json"] + cache, on: backend).output.text == "{\"k\":\"a\"}\n")
        let missing = ToolRun(["get", "\u{1B}"] + cache, on: backend)
        #expect(missing.status == .failure && missing.output.text.isEmpty)
        #expect(missing.errors.text == "typed-cache: no entry for '\\u{1b}'; see typed-cache list\n")
    }

    @Test("Statistics are shown for people and for programs")
    func stats() {
        let prose = ToolRun(["stats"] + cache, on: backend).output.lines
        #expect(prose.prefix(2) == ["entries  2", "size     3.0 KiB, 4.0 KiB before compression"])
        let json = ToolRun(["stats", "--json"] + cache, on: backend).output.text
        #expect(
            json.hasPrefix(
                #"{"entries":2,"size":3072,"archiveSize":4096,"expired":0,"damaged":0,"oldest":"1970-01-01T00:00:00Z","#
            )
        )
    }

    @Test("Entries are removed; a key without one fails after the others are gone")
    func remove() {
        let run = ToolRun(["remove", "x", "a", "--json"] + cache, on: backend)
        #expect(run.status == .failure)
        #expect(backend.saved.map(\.key) == ["b\n"])
        #expect(run.output.text == #"{"removed":1,"selected":1,"missing":["x"]}"# + "\n")
        #expect(run.errors.lines == ["typed-cache: no entry for 'x'; see typed-cache list"])
        #expect(ToolRun(["remove", "b\n"] + cache, on: backend).status == .success)
    }

    @Test("A cache is trimmed to a size, and says what went")
    func trim() throws {
        let records = (1...10).map { "{\"id\":\($0)}\n" }.joined()
        _ = ToolRun(["warm", "-", "--key", "id"] + cache, on: backend, input: records)
        let all = backend.saved.count
        let trim = ["trim", "--max-size", "6K"] + cache
        let plan = ToolRun(trim + ["--dry-run"], on: backend)
        #expect(
            plan.output.text
                == "0 expired entries would be removed, others of \(ByteText(1_536 * (all - 4))) or more evicted\n"
        )
        let unasked = ToolRun(trim, on: backend)
        #expect(unasked.status == .usage)
        #expect(unasked.errors.text.contains("use --yes to trim without asking"))
        #expect(ToolRun(trim, on: backend, answer: false).status == .failure)
        #expect(backend.saved.count == all)
        // Nothing is asked where nothing but expired entries would go.
        #expect(ToolRun(["trim", "--max-size", "1M"] + cache, on: backend).status == .success)
        #expect(backend.saved.count == all)
        let run = ToolRun(trim, on: backend, answer: true)
        #expect(run.status == .success)
        #expect(backend.saved.count == 4)
        #expect(run.output.text == "0 expired entries removed, \(all - 4) others evicted\n")
        let json = ToolRun(["trim", "--max-size", "0", "--json", "--yes"] + cache, on: backend)
        #expect(json.output.text == #"{"expired":0,"evicted":4}"# + "\n")
        #expect(ToolRun(["trim"] + cache, on: backend).status == .usage)
    }

    @Test("Sizes are whole numbers of bytes, or with a unit")
    func sizes() throws {
        let sizes = [("0", 0), ("17", 17), ("1k", 1_024), ("3M", 3 << 20), ("2G", 2 << 30), ("1T", 1 << 40)]
        for (text, bytes) in sizes { #expect(try SizeLimit(parsing: text).bytes.bytes == bytes) }
        for text in ["", "K", "-1", "1.5M", "1KB", "99999999999999999999", "9999999999T", "+1", "½"] {
            #expect(throws: InvalidValue.self, "\(text)") { try SizeLimit(parsing: text) }
        }
    }

    @Test("A cache is compacted, and says what it took and takes")
    func compact() {
        let prose = ToolRun(["compact"] + cache, on: backend)
        #expect(prose.status == .success)
        #expect(prose.output.text == "2 expired entries removed, 4.0 KiB before, 3.0 KiB now\n")
        let json = ToolRun(["compact", "--json"] + cache, on: backend)
        #expect(json.output.text == #"{"expired":2,"sizeBefore":4096,"sizeAfter":3072}"# + "\n")
    }

    @Test("A cache is cleared when someone says so, and not otherwise")
    func clear() {
        let nobody = ToolRun(["clear"] + cache, on: backend)
        #expect(nobody.status == .usage && nobody.errors.text.contains("--yes"))
        let no = ToolRun(["clear"] + cache, on: backend, answer: false)
        #expect(no.status == .failure)
        #expect(no.errors.text == "Remove all entries of the cache 'c'?\ntyped-cache: nothing was removed\n")
        #expect(backend.saved.count == 2)
        let asked = ToolRun(["clear"] + cache, on: backend, answer: true)
        #expect(asked.status == .success && asked.output.text == "2 entries removed, 3.0 KiB\n")
        #expect(backend.saved.isEmpty)
        let yes = ToolRun(["clear", "--yes", "--json"] + cache, on: backend, answer: false)
        #expect(yes.status == .success && yes.output.text == "{\"removed\":0,\"size\":0}\n")
    }

    @Test("Help and version are data; what was not understood is told on the other side")
    func helpAndUsage() {
        #expect(ToolRun(["help"], on: backend).output.text == HelpText(nil).description)
        #expect(ToolRun(["--version"], on: backend).output.lines == ["typed-cache \(CommandLineTool.version)"])
        let usage = ToolRun(["lits"], on: backend)
        #expect(usage.status == .usage && usage.output.text.isEmpty)
        #expect(usage.errors.lines == ["typed-cache: unknown subcommand 'lits'; did you mean list?"])
    }

    @Test("A reader that has gone ends every command quietly")
    func closedOutput() {
        for arguments in [
            ["list"] + cache, ["help"], ["stats"] + cache, ["get", "a"] + cache, ["dump", "a"] + cache,
        ] {
            let run = ToolRun(arguments, on: backend, output: MemoryOutput(room: 1))
            #expect(run.status == .success && run.errors.text.isEmpty, "\(arguments)")
        }
        let warm = ["warm", "-", "--key", "id", "--print-keys", "--quiet"] + cache
        let run = ToolRun(warm, on: backend, input: "{\"id\":1}\n{\"id\":2}\n", output: MemoryOutput(room: 2))
        #expect(run.status == .success && run.errors.text.isEmpty)
        let full = ToolRun(["help"], on: backend, output: MemoryOutput(room: 1, error: .failed(errno: 28)))
        #expect(full.status == .failure)
        #expect(
            full.errors.text == "typed-cache: standard output cannot be written: No space left on device\n"
        )
    }

    @Test("Results that are lost at the end are told, also beside another failure")
    func lostOutput() {
        func run(_ words: [String], _ error: OutputError) -> ToolRun {
            ToolRun(words + cache, on: backend, output: MemoryOutput(room: 1, error: error, isHeldBack: true))
        }
        let told = "typed-cache: standard output cannot be written: \(SystemMessage(28))\n"
        for words in [["list"], ["get", "a"]] {
            let lost = run(words, .failed(errno: 28))
            #expect(lost.status == .failure && lost.errors.text == told)
            #expect(run(words, .closed).status == .success)
        }
        let mixed = run(["get", "none", "a"], .failed(errno: 28))
        #expect(mixed.status == .failure && mixed.errors.lines.count == 2 && mixed.errors.text.hasSuffix(told))
        #expect(run(["get", "none", "a"], .closed).status == .failure)
    }
}
