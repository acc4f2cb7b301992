import TestSupport
import Testing
import TypedCache

@testable import CacheCommand

struct CommandTests {
    private static let names = Command.subcommands.map { $0.name }

    private func help(_ arguments: [String]) throws -> String? {
        guard case .help(let subcommand) = try Command(arguments) else { return nil }
        return HelpText(subcommand).description
    }

    private func subcommand<Wanted: Subcommand>(_ type: Wanted.Type, _ arguments: String...) throws -> Wanted {
        guard case .run(let subcommand) = try Command(arguments) else {
            throw ArgumentError(fact: .missingSubcommand)
        }
        return try #require(subcommand as? Wanted)
    }

    @Test("Every example in help is understood", arguments: names)
    func examples(name: String) throws {
        let subcommand = try Command.subcommand(named: name)
        #expect(!subcommand.examples.isEmpty)
        for example in subcommand.examples {
            #expect(example.arguments.first == name)
            #expect(throws: Never.self, "\(example.arguments)") { try Command(example.arguments) }
        }
    }

    @Test("Help tells of everything that a subcommand accepts", arguments: names)
    func help(name: String) throws {
        let subcommand = try Command.subcommand(named: name)
        let declared = DeclaredArguments(of: subcommand.init())
        let text = HelpText(subcommand).description
        for option in declared.allOptions.map(\.declaration) {
            #expect(text.contains("  \(option.form)"), "\(option.name)")
            #expect(text.contains(option.help.prefix(20)), "\(option.name)")
        }
        if let operand = declared.operand?.declaration { #expect(text.contains(operand.form)) }
        #expect(try help([name, "--help"]) == text)
        #expect(try help([name, "-h"]) == text)
        #expect(ToolRun(["help", name], on: MemoryBackend()).output.text == text)
        let examples = subcommand.examples.map { "  typed-cache " + $0.text }
        for line in text.split(separator: "\n") where !examples.contains(String(line)) {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test("Help fits into the terminal, and is never wider than 80 columns", arguments: [40, 61, 80, 200])
    func width(columns: Int) {
        let types: [(any Subcommand.Type)?] = [nil] + Command.listedSubcommands.map { $0 }
        for type in types {
            let examples = (type?.examples ?? []).flatMap { example in
                ["  # " + example.meaning, "  typed-cache " + example.text]
            }
            let wide = HelpText(type).description.split(whereSeparator: \.isWhitespace)
            let text = HelpText(type, columns: columns).description
            #expect(text.split(whereSeparator: \.isWhitespace) == wide)
            for line in text.split(separator: "\n") where !examples.contains(String(line)) {
                // A word, or an option with its placeholder, is not divided.
                let isOneWord = !line.trimmingPrefix { $0 == " " }.contains(" ")
                let isOption = line.hasPrefix("  --") || line.hasPrefix("       [--")
                #expect(line.count <= min(80, columns) || isOneWord || isOption, "\(line)")
            }
        }
    }

    @Test("The overview tells of every subcommand")
    func overview() throws {
        let text = HelpText(nil).description
        for subcommand in Command.listedSubcommands {
            #expect(text.contains("  \(subcommand.name)"))
            #expect(text.contains(subcommand.summary.prefix(30)))
        }
        #expect(ToolRun(["help"], on: MemoryBackend()).output.text == text)
        for arguments in [["--help"], ["-h"]] { #expect(try help(arguments) == text) }
        guard case .version = try Command(["--version"]) else {
            Issue.record("no version")
            return
        }
    }

    @Test("No two options of a subcommand have one name or letter", arguments: names)
    func distinctOptions(name: String) throws {
        let declared = DeclaredArguments(of: try Command.subcommand(named: name).init())
        let options = declared.allOptions.map(\.declaration)
        #expect(Set(options.map(\.name)).count == options.count)
        let letters = options.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
    }

    @Test("Order and spelling of options change nothing", arguments: 0..<50 as Range<UInt64>)
    func spellings(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = [
            "cache": "c", "key": "id", "type": "a.B", "fields": "a:int,b:string?", "ttl": "7d", "limit": "5",
            "format": "csv", Bool.random(using: &generator) ? "root" : "app": "-x = y",
        ]
        let flags = ["dry-run", "skip-invalid", "resume", "quiet", "json"]
        func texts(_ arguments: [String]) throws -> [String] {
            guard case .run(let subcommand) = try Command(arguments) else { return [] }
            return subcommand.texts
        }
        let canonical = values.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
        let expected = try texts(["warm", "s"] + canonical + flags.map { "--\($0)" })
        #expect(expected.count == 1 + values.count + flags.count)
        var pieces = [["s"]] + flags.map { ["--\($0)"] }
        for (name, value) in values {
            pieces.append(Bool.random(using: &generator) ? ["--\(name)", value] : ["--\(name)=\(value)"])
        }
        pieces.shuffle(using: &generator)
        #expect(try texts(["warm"] + pieces.flatMap(\.self)) == expected, "seed \(seed): \(pieces)")
    }

    @Test("A full command line comes out as what it says")
    func warm() throws {
        let warm = try subcommand(
            Warm.self,
            "warm",
            "-",
            "--cache",
            "c",
            "--root=/r",
            "--key",
            "id",
            "--type",
            "atlas.City",
            "--fields",
            "a:int",
            "--ttl",
            "90s",
            "--limit",
            "0",
            "--format",
            "json",
            "--quiet"
        )
        #expect(warm.location == .standardInput)
        #expect(try warm.cache.selection() == CacheSelection(name: "c", location: .root("/r")))
        #expect(warm.keyField == "id" && warm.typeName == "atlas.City")
        #expect(warm.fields?.fields.map(\.name) == ["a"])
        #expect(warm.timeToLive?.duration == .seconds(90))
        #expect(warm.limit == 0 && warm.format == .json && warm.storage.layout == nil)
        #expect(warm.isQuiet && !warm.isDryRun && !warm.skipsInvalid)
        #expect(!warm.printsKeys && !warm.writesJSON)
    }

    @Test("Layouts are two words")
    func layouts() throws {
        for (word, layout) in [("packed", DiskSettings.Layout.packed), ("files", .files)] {
            let read = try subcommand(Import.self, "import", "d", "--cache", "c", "--layout", word)
            #expect(read.storage.layout == layout)
        }
        let error = #expect(throws: ArgumentError.self) {
            try Command(["import", "d", "--cache", "c", "--layout", "automatic"])
        }
        #expect(
            error?.fact
                == .badValue(
                    option: "--layout",
                    InvalidValue("automatic", expected: "one of packed, files", words: ["packed", "files"])
                )
        )
    }

    @Test("After two dashes everything is an operand")
    func endOfOptions() throws {
        let remove = try subcommand(Remove.self, "remove", "a", "--cache=c", "--", "--json", "-x", "--")
        #expect(remove.keys == ["a", "--json", "-x", "--"] && !remove.writesJSON)
    }

    @Test("Who asks for help gets it, whatever else is wrong")
    func helpFirst() throws {
        #expect(try help(["get", "--help", "--nonsense"]) == HelpText(Get.self).description)
        #expect(try help(["list", "a", "b", "-h"]) == HelpText(List.self).description)
    }
}
