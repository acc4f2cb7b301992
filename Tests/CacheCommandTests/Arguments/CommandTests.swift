import TestSupport
import Testing

@testable import CacheCommand

struct CommandTests {
    @Test("Every example in help is understood", arguments: Subcommand.allCases)
    func examples(subcommand: Subcommand) throws {
        #expect(!subcommand.declaration.examples.isEmpty)
        for example in subcommand.declaration.examples {
            #expect(example.arguments.first == subcommand.rawValue)
            #expect(throws: Never.self, "\(example.arguments)") { try Command(example.arguments) }
        }
    }

    @Test("Help tells of everything that a subcommand accepts", arguments: Subcommand.allCases)
    func help(subcommand: Subcommand) throws {
        let declaration = subcommand.declaration
        let text = HelpText(subcommand: subcommand).description
        for option in declaration.allOptions {
            #expect(text.contains("  \(option.form)"), "\(option.name)")
            #expect(text.contains(option.meaning.prefix(20)), "\(option.name)")
        }
        if let operand = declaration.operand { #expect(text.contains(operand.form)) }
        #expect(try Command([subcommand.rawValue, "--help"]) == .help(HelpText(subcommand: subcommand)))
        #expect(try Command([subcommand.rawValue, "-h"]) == .help(HelpText(subcommand: subcommand)))
        #expect(try Command(["help", subcommand.rawValue]) == .help(HelpText(subcommand: subcommand)))
        let examples = declaration.examples.map { "  typed-cache " + $0.arguments.joined(separator: " ") }
        for line in text.split(separator: "\n") where !examples.contains(String(line)) {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test("The overview tells of every subcommand")
    func overview() throws {
        let text = HelpText(subcommand: nil).description
        for subcommand in Subcommand.allCases {
            #expect(text.contains("  \(subcommand.rawValue)"))
            #expect(text.contains(subcommand.declaration.summary.prefix(30)))
        }
        for arguments in [["help"], ["--help"], ["-h"]] {
            #expect(try Command(arguments) == .help(HelpText(subcommand: nil)))
        }
        #expect(try Command(["--version"]) == .version)
    }

    @Test("Order and spelling of options change nothing", arguments: 0..<50 as Range<UInt64>)
    func spellings(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = [
            "cache": "c", "key": "id", "type": "a.B", "fields": "a:int,b:string?", "ttl": "7d", "limit": "5",
            "format": "csv", Bool.random(using: &generator) ? "root" : "app": "-x = y",
        ]
        let flags = ["dry-run", "skip-invalid", "print-keys", "quiet", "json"]
        let canonical = values.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
        let expected = try Command(["warm", "s"] + canonical + flags.map { "--\($0)" })
        var pieces = [["s"]] + flags.map { ["--\($0)"] }
        for (name, value) in values {
            pieces.append(Bool.random(using: &generator) ? ["--\(name)", value] : ["--\(name)=\(value)"])
        }
        pieces.shuffle(using: &generator)
        #expect(try Command(["warm"] + pieces.flatMap(\.self)) == expected, "seed \(seed): \(pieces)")
    }

    @Test("A full command line comes out as what it says")
    func warm() throws {
        let arguments = [
            "warm", "-", "--cache", "c", "--root=/r", "--key", "id", "--type", "atlas.City", "--fields",
            "a:int",
            "--ttl", "90s", "--limit", "0", "--format", "json", "--quiet",
        ]
        guard case .warm(let options) = try Command(arguments) else {
            Issue.record("no warm command")
            return
        }
        #expect(options.source == .standardInput)
        #expect(options.cache == CacheSelection(name: "c", location: .root("/r")))
        #expect(options.keyField == "id" && options.typeName == "atlas.City")
        #expect(options.fields?.fields.map(\.name) == ["a"])
        #expect(options.timeToLive?.duration == .seconds(90))
        #expect(options.limit == 0 && options.format == .json)
        #expect(options.isQuiet && !options.isDryRun && !options.skipsInvalid)
        #expect(!options.printsKeys && !options.writesJSON)
    }

    @Test("Behind two dashes everything is an operand")
    func endOfOptions() throws {
        guard
            case .remove(let options) = try Command(["remove", "a", "--cache=c", "--", "--json", "-x", "--"])
        else {
            Issue.record("no remove command")
            return
        }
        #expect(options.keys == .given(["a", "--json", "-x", "--"]) && !options.writesJSON)
    }

    @Test("Who asks for help gets it, whatever else is wrong")
    func helpFirst() throws {
        #expect(try Command(["get", "--help", "--nonsense"]) == .help(HelpText(subcommand: .get)))
        #expect(try Command(["list", "a", "b", "-h"]) == .help(HelpText(subcommand: .list)))
    }
}
