import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

struct ArgumentErrorTests {
    @Test(
        "What is wrong with a command line is told in one line, and what to do",
        arguments: [
            ("", "a subcommand is missing; see typed-cache help"),
            ("wram", "unknown subcommand 'wram'; did you mean warm?"),
            ("lst", "unknown subcommand 'lst'; did you mean list?"),
            ("frobnicate", "unknown subcommand 'frobnicate'; see typed-cache help"),
            ("--vers", "unknown option '--vers'; see typed-cache help"),
            ("--versoin", "unknown option '--versoin'; did you mean --version?"),
            ("help wrm", "unknown subcommand 'wrm'; did you mean warm?"),
            ("list --cahce c", "unknown option '--cahce'; did you mean --cache?"),
            ("list --cahce=c", "unknown option '--cahce'; did you mean --cache?"),
            ("list --ttl 7d", "unknown option '--ttl'; see typed-cache help list"),
            ("list -x", "unknown option '-x'; see typed-cache help list"),
            ("list -json", "unknown option '-json'; did you mean --json?"),
            ("list --cache", "--cache needs a value: --cache NAME; see typed-cache help list"),
            ("list --cache --long", "--cache needs a value: --cache NAME; see typed-cache help list"),
            ("list --cache=", "--cache: expected the name of a cache, not ''; see typed-cache help list"),
            ("list", "--cache NAME is missing; see typed-cache help list"),
            ("list --cache c --long=1", "--long takes no value; see typed-cache help list"),
            ("list --cache c --cache d", "--cache is given twice; see typed-cache help list"),
            ("list --cache c x", "unexpected argument 'x'; see typed-cache help list"),
            ("stats cities", "unexpected argument 'cities'; did you mean --cache cities?"),
            ("export a it's", "unexpected argument 'it's'; did you mean --cache 'it'\\''s'?"),
            ("trim --max-size 1M x y", "unexpected argument 'x'; did you mean --cache x?"),
            ("remove 12 --cache c --prefix 2", "KEY and --prefix exclude each other; see typed-cache help remove"),
            ("remove - --cache c --expired", "KEY and --expired exclude each other; see typed-cache help remove"),
            ("remove 12 - --cache c", "- and other keys exclude each other; see typed-cache help remove"),
            ("convert a b --to xml -o out", "--output takes one FILE; for several see --extension"),
            ("convert - --to xml -e x", "- and --extension exclude each other; see typed-cache help convert"),
            ("convert - - --to xml", "- is given twice; see typed-cache help convert"),
            ("dump - -", "- is given twice; see typed-cache help dump"),
            ("get a b --cache c --as xml", "--as xml takes one KEY; see typed-cache help get"),
            ("get a b --cache c --raw", "--raw takes one KEY; see typed-cache help get"),
            ("get - --cache c --as plist", "- and --as plist exclude each other; see typed-cache help get"),
            ("manual list -o d", "SUBCOMMAND and --output exclude each other; see typed-cache help manual"),
            ("get --cache c", "KEY is missing; see typed-cache help get"),
            ("export a b --cache c", "unexpected argument 'b'; see typed-cache help export"),
            (
                "remove --cache c",
                "KEY, or an option that selects entries, is missing; see typed-cache help remove"
            ),
            ("dump", "FILE|KEY is missing; see typed-cache help dump"),
            ("warm s --cache c", "--key FIELD is missing; see typed-cache help warm"),
            (
                "stats --cache c --app a --root r",
                "--root and --app exclude each other; see typed-cache help stats"
            ),
            (
                "warm s --cache c --key k --limit -1",
                "--limit: expected a whole number, not '-1'; see typed-cache help warm"
            ),
            (
                "warm s --cache c --key k --max-size 1023",
                "--max-size: expected a size of at least 1K, not '1023'; see typed-cache help warm"
            ),
            (
                "warm s --cache c --key k --format xml",
                "--format: expected one of ndjson, json, csv, not 'xml'; see typed-cache help warm"
            ),
            (
                "warm s --cache c --key k --ttl 7x",
                "--ttl: expected a time such as 30s, 10m, 12h, 7d or 2w, not '7x'; see typed-cache help warm"
            ),
            (
                "warm s --cache c --key k --fields a:int,b:float",
                "--fields: expected a type that is one of string, int, double, bool, date, data, url, uuid, "
                    + "not 'b:float'; see typed-cache help warm"
            ),
            ("list \u{1B}[31m", "--cache NAME is missing; see typed-cache help list"),
        ]
    )
    func sentences(line: String, sentence: String) throws {
        let words = line.split(separator: " ").map(String.init).filter { !$0.hasPrefix("\u{1B}") }
        let error = #expect(throws: ArgumentError.self) { try Command(words) }
        #expect(error.map { ArgumentErrorMessage($0).description } == sentence)
    }

    @Test("What came from the command line is shown escaped and in bounds")
    func hostileArguments() throws {
        let hostile = "\u{1B}[31m\n" + String(repeating: "x", count: 10_000)
        for arguments in [
            [hostile], ["--" + hostile], ["list", "--cache", "c", hostile], ["list", "--\(hostile)"],
            ["list", hostile],
        ] {
            let error = #expect(throws: ArgumentError.self) { try Command(arguments) }
            let sentence = error.map { ArgumentErrorMessage($0).description } ?? ""
            #expect(sentence.count < 200 && !sentence.unicodeScalars.contains(where: \.isHostile))
        }
    }

    @Test("No arguments trap", arguments: 0..<200 as Range<UInt64>)
    func anyArguments(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let words =
            Command.subcommands.map { $0.name }
            + Command.subcommands.flatMap { $0.spellings }
            + ["", "-", "--", "-h", "=", "--=", "--cache=c", "--key=k", "a", "7d", "a:int"]
        let count = Int.random(in: 0...8, using: &generator)
        let arguments = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }
        do throws(ArgumentError) {
            _ = try Command(arguments)
        } catch {
            #expect(!ArgumentErrorMessage(error).description.contains("\n"), "\(arguments)")
        }
    }

    @Test(
        "Edits are counted: none for the same, one for each, and both ways alike",
        arguments: 0..<50 as Range<UInt64>
    )
    func distance(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let letters: [Character] = ["a", "b", "c"]
        let word = { (generator: inout SeededGenerator) in
            String(
                (0..<Int.random(in: 1...8, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "a"
                }
            )
        }
        let (one, other) = (word(&generator), word(&generator))
        #expect((Suggestion.distance(from: one, to: other) == 0) == (one == other))
        #expect(Suggestion.distance(from: one, to: other) == Suggestion.distance(from: other, to: one))
        #expect(Suggestion.distance(from: one, to: "") == one.count)
        var edited = Array(one)
        let index = Int.random(in: 0..<edited.count, using: &generator)
        switch seed % 4 {
        case 0: edited[index] = "x"
        case 1: edited.insert("x", at: index)
        case 2: edited.remove(at: index)
        default: edited.append("x")
        }
        #expect(Suggestion.distance(from: one, to: String(edited)) == 1)
        #expect(Suggestion.distance(from: "list", to: "lsit") == 1)
    }

    @Test(
        "Times are a whole number and a unit",
        arguments: [
            ("30s", 30), ("10m", 600), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600), ("007s", 7),
            ("", nil),
            ("s", nil), ("0s", nil), ("-1s", nil), ("+1s", nil), ("1.5h", nil), ("1", nil), ("1 h", nil),
            ("1H", nil),
            ("1d12h", nil), ("9223372036854775807w", nil), ("99999999999999999999s", nil), ("60000w", nil),
            ("１s", nil),
        ] as [(String, Int?)]
    )
    func times(text: String, seconds: Int?) {
        #expect((try? TimeToLive(parsing: text))?.duration == seconds.map { .seconds($0) })
    }
}
