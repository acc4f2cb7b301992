import Foundation
import KeyedArchive
import Testing

@testable import CacheCommand

struct DocumentCommandTests {
    private let workspace: Workspace
    private let archive: String

    init() throws {
        workspace = try Workspace()
        let tree = ArchiveTree(
            roots: [.init(key: "root", value: .reference(1))],
            objects: [
                .empty,
                .instance(
                    .init(
                        classPlace: 2,
                        fields: [
                            .init(key: "name", value: .string("Leo\u{1B}")),
                            .init(key: "mate", value: .reference(1)),
                            .init(key: "picture", value: .data(Data(repeating: 7, count: 2_048))),
                        ]
                    )
                ),
                .classDescription(.init(name: "zoo.Lion", chain: ["zoo.Lion", "NSObject"])),
            ]
        )
        archive = workspace.url.appending(path: "zoo.archive").path
        try tree.archivedData().write(to: URL(fileURLWithPath: archive))
    }

    private func run(_ arguments: String..., input: String = "") -> ToolRun {
        ToolRun(arguments, on: MemoryBackend(), input: input)
    }

    private func plist(_ name: String, _ value: Any, as format: PropertyListSerialization.PropertyListFormat) throws
        -> String
    {
        let file = workspace.url.appending(path: name)
        try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0).write(to: file)
        return file.path
    }

    private func read(_ name: String) throws -> Any {
        try PropertyListSerialization.propertyList(
            from: try Data(contentsOf: workspace.url.appending(path: name)),
            format: nil
        )
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: workspace.url.path).sorted() }
    }

    private let sample: [String: Any] = [
        "text": "Löwe \"Leo\"\n", "list": ["a", "", "two words"] as [Any], "inner": ["key with = ;": "\u{1F981}"],
    ]

    // MARK: dump

    @Test("An archive is shown as a tree")
    func archives() {
        #expect(
            run("dump", archive).output.text == """
                root: zoo.Lion #1
                  name: "Leo\\u{1b}"
                  mate: see #1
                  picture: 2048 bytes of data

                """
        )
        #expect(run("dump", archive, "--json").output.text.contains(#"{"label":"mate","reference":1}"#))
    }

    @Test("JSON tells data, dates and archives in data from text")
    func kindsInJSON() throws {
        let inner = try KeyedArchiver.archivedData(withRootObject: "inner")
        let list: [String: Any] = [
            "archive": inner, "data": Data([1, 2]), "date": Date(timeIntervalSinceReferenceDate: 0), "text": "AQI=",
        ]
        let dumped = run("dump", try plist("kinds.plist", list, as: .binary), "--json").output.text
        for line in [
            #"{"label":"archive","kind":"archive","value":"\#(inner.base64EncodedString())"}"#,
            #"{"label":"data","kind":"data","value":"AQI="}"#,
            #"{"label":"date","kind":"date","value":"2001-01-01T00:00:00Z"}"#,
            #"{"label":"text","value":"AQI="}"#,
        ] {
            #expect(dumped.contains(line), "\(dumped)")
        }
    }

    @Test("Property lists of both forms are shown as trees", arguments: [true, false])
    func lists(isBinary: Bool) throws {
        let path = try plist("a.plist", ["numbers": [1, 2.5, true] as [Any]], as: isBinary ? .binary : .xml)
        let dumped = run("dump", path)
        #expect(
            dumped.output.text == "root:\n  numbers:\n    0: 1\n    1: 2.5\n    2: true\n",
            "\(dumped.errors.text)"
        )
    }

    @Test(
        "Property lists in text are recognized by their content",
        arguments: [
            ("{ a = (b, \"c d\"); }", "OpenStep property list", "root:\n  a:\n    0: \"b\"\n    1: \"c d\"\n"),
            ("/* Title */\n\"a\" = \"b\";\n", "OpenStep property list", "root:\n  a: \"b\"\n"),
            ("title = Lion;", "OpenStep property list", "root:\n  title: \"Lion\"\n"),
            ("(<*I5>, <*BY>)", "GNUstep property list", "root:\n  0: 5\n  1: true\n"),
            ("<0fbd>", "OpenStep property list", "root: 2 bytes of data\n"),
        ]
    )
    func textLists(text: String, format: String, tree: String) throws {
        let path = try workspace.file("list", text)
        let dumped = run("dump", path)
        #expect(dumped.output.text == tree, "\(dumped.errors.text)")
        #expect(run("lint", path).output.lines == ["\(path): OK, \(format)"])
        #expect(run("convert", path, "--to", "binary").status == .success)
        #expect(run("dump", path).output.text == tree)
    }

    @Test("Standard input is a file too")
    func standardInput() {
        let xml = "<plist version=\"1.0\"><array><string>x</string></array></plist>"
        #expect(run("dump", "-", input: xml).output.text == "root:\n  0: \"x\"\n")
        #expect(run("dump", "-", "-").status == .usage)
        #expect(
            run("dump", "-", input: "what?").errors.text.hasPrefix("typed-cache: standard input cannot be read: ")
        )
    }

    @Test("A directory, and a path through a file, are told as what they are")
    func directories() {
        let directory = workspace.url.path
        for words in [["dump"], ["lint"], ["convert", "--to", "xml"]] {
            let result = ToolRun(words + [directory, archive + "/x"], on: MemoryBackend())
            #expect(result.status == .failure)
            #expect(
                result.errors.lines == [
                    "typed-cache: \(directory) cannot be read: Is a directory",
                    "typed-cache: \(archive)/x cannot be read: Not a directory",
                ]
            )
        }
        let manual = run("manual", "--output", archive)
        #expect(manual.errors.text == "typed-cache: \(archive)/typed-cache.1 cannot be written: Not a directory\n")
    }

    @Test("A file that cannot be read does not stop the others")
    func severalFiles() throws {
        let good = try plist("a.plist", ["x"], as: .xml)
        let bad = try workspace.file("b\n.plist", "no list")
        let result = run("dump", good, bad, workspace.url.path + "/missing", archive)
        #expect(result.status == .failure)
        #expect(result.output.text.hasPrefix("\(good):\nroot:\n  0: \"x\"\n\n\(archive):\nroot: zoo.Lion #1\n"))
        #expect(result.errors.lines.count == 2)
        #expect(
            result.errors.lines[0].hasSuffix("b\\n.plist cannot be read: \(DocumentFault.unknownFormat.message)")
        )
        #expect(result.errors.lines[1].hasSuffix("/missing cannot be read: No such file or directory"))
    }

    // MARK: convert

    @Test("A file is replaced, and what Foundation reads from it stays the same")
    func everyForm() throws {
        let path = try plist("a.plist", sample, as: .xml)
        for (form, format) in [
            ("binary", PropertyListSerialization.PropertyListFormat.binary), ("xml", .xml), ("binary1", .binary),
        ] {
            let result = run("convert", path, "--to", form)
            #expect(result.status == .success && result.errors.text.isEmpty, "\(form): \(result.errors.text)")
            var found = PropertyListSerialization.PropertyListFormat.openStep
            let list = try PropertyListSerialization.propertyList(
                from: Data(contentsOf: URL(fileURLWithPath: path)),
                format: &found
            )
            #expect(found == format)
            #expect((list as? NSDictionary) == sample as NSDictionary)
        }
        #expect(run("convert", path, "--to", "json", "-e", ".json").status == .success)
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: workspace.url.appending(path: "a.json")))
        #expect((json as? NSDictionary) == sample as NSDictionary)
        #expect(run("convert", path, "--to", "openstep", "-e", "strings").status == .success)
        #expect((try read("a.strings") as? NSDictionary) == sample as NSDictionary)
        #expect(try files == ["a.json", "a.plist", "a.strings", "zoo.archive"])
    }

    @Test("JSON becomes a property list, and comes back")
    func fromJSON() throws {
        let text = #"{"b":[1,-2,18446744073709551615,0.5,true,false,"ü"],"a":{}}"#
        let path = try workspace.file("a.json", text)
        #expect(run("convert", path, "--to", "binary", "-o", workspace.url.path + "/a.plist").status == .success)
        let bytes = run("convert", workspace.url.path + "/a.plist", "--to", "json", "-o", "-").output.bytes
        let back = String(decoding: bytes, as: UTF8.self)
        #expect(back.filter { !" \n".contains($0) } == text)
        let null = try workspace.file("null.json", #"{"a":[0,null]}"#)
        let refused = run("convert", null, "--to", "xml")
        #expect(
            refused.errors.text.hasSuffix("cannot be converted: XML property lists cannot hold null, at root.a.1\n")
        )
        #expect(try String(contentsOfFile: null, encoding: .utf8) == #"{"a":[0,null]}"#)
    }

    @Test("A key that is there twice is converted with the value that counts")
    func duplicates() throws {
        let text = "<plist><dict><key>a</key><integer>1</integer><key>a</key><integer>2</integer></dict></plist>"
        let path = try workspace.file("twice.plist", text)
        let json = String(decoding: run("convert", path, "--to", "json", "-o", "-").output.bytes, as: UTF8.self)
        #expect(json.filter { !" \n".contains($0) } == #"{"a":2}"#)
        #expect(run("convert", path, "--to", "binary").status == .success)
        #expect((try read("twice.plist") as? [String: Int]) == ["a": 2])
    }

    @Test("JSON may begin with a byte order mark")
    func marked() throws {
        let path = try workspace.file("marked.json", "\u{FEFF}{\"a\":[1]}")
        #expect(run("lint", path).output.lines == ["\(path): OK, JSON"])
        #expect(run("convert", path, "--to", "json", "-o", "-").output.bytes.starts(with: "{".utf8))
        let bad = try workspace.file("bad.json", "\u{FEFF}{\n\"a\":\n}")
        #expect(run("lint", bad).errors.text.hasSuffix("at line 3, byte 10\n"))
    }

    @Test("A value that a form cannot hold is named with its path, and the file stays as it is")
    func refusals() throws {
        let cases: [(Any, String, String)] = [
            (["a": [Data([1])]], "json", "JSON cannot hold data, at root.a.0"),
            (["a": Date(timeIntervalSinceReferenceDate: 0)], "json", "JSON cannot hold a date, at root.a"),
            (["a": ["b": Double.infinity]], "json", "JSON cannot hold a number that is not finite, at root.a.b"),
            (["a": 1], "openstep", "OpenStep property lists cannot hold a number, at root.a"),
            (["a": [true]], "openstep", "OpenStep property lists cannot hold a Boolean, at root.a.0"),
            (["a": "\u{0}"], "xml", "XML property lists cannot hold text with a zero byte, at root.a"),
        ]
        for (value, form, message) in cases {
            let path = try plist("value.plist", value, as: .binary)
            let former = try Data(contentsOf: URL(fileURLWithPath: path))
            let result = run("convert", path, "--to", form)
            #expect(result.status == .failure, "\(message)")
            #expect(result.errors.text == "typed-cache: \(path) cannot be converted: \(message)\n")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == former)
        }
        let result = run("convert", archive, "--to", "json")
        #expect(result.errors.text.contains("a reference to an object of a keyed archive, at root.$top.root"))
        #expect(try files == ["value.plist", "zoo.archive"])
    }

    @Test("An archive goes to XML and back, and is the same archive")
    func archiveThroughXML() throws {
        let file = URL(fileURLWithPath: archive)
        let former = try ArchiveTree(Data(contentsOf: file))
        #expect(run("convert", archive, "--to", "xml").status == .success)
        let xml = try String(contentsOf: file, encoding: .utf8)
        #expect(xml.contains("<key>CF$UID</key>") && xml.contains("<string>Leo&#27;</string>"))
        #expect(run("convert", archive, "--to", "binary").status == .success)
        #expect(try ArchiveTree(Data(contentsOf: file)).description == former.description)
    }

    @Test("One bad file does not stop the others; the exit code tells")
    func severalConversions() throws {
        let (a, b) = (try plist("a.plist", ["a"], as: .xml), try plist("b.plist", ["b"], as: .xml))
        let bad = try workspace.file("bad.plist", "<plist>\n<array>\n<integer>x</integer></array></plist>")
        let result = run("convert", a, bad, b, "--to", "binary")
        #expect(result.status == .failure)
        #expect(result.errors.text.hasPrefix("typed-cache: \(bad) cannot be read: "))
        #expect(result.errors.text.contains("at line 3, byte "))
        for path in [a, b] {
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: Array("bplist00".utf8)))
        }
    }

    @Test("A link stays, and the file after it keeps its mode")
    func links() throws {
        let path = try plist("a.plist", ["a"], as: .xml)
        #expect(chmod(path, 0o640) == 0)
        let link = workspace.url.appending(path: "link.plist")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "a.plist")
        #expect(run("convert", link.path, "--to", "binary").status == .success)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "a.plist")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: Array("bplist00".utf8)))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test("Arguments that do not fit together are refused")
    func usage() {
        for arguments in [
            ["convert", "a"], ["convert", "a", "--to", "yaml"], ["convert", "a", "b", "--to", "xml", "-o", "c"],
            ["convert", "-", "--to", "xml", "-e", "x"], ["convert", "-", "-", "--to", "xml"],
            ["convert", "a", "--to", "xml", "-o"], ["convert", "a", "--to", "xml", "-o", "b", "-e", "c"],
            ["convert", "a", "--to", "xml", "-e", "x/y"], ["lint"],
        ] {
            #expect(ToolRun(arguments, on: MemoryBackend()).status == .usage, "\(arguments)")
        }
    }

    // MARK: lint

    @Test("Sound files are said to be so, and faults have their places")
    func lint() throws {
        let list = try plist("a.plist", ["a"], as: .binary)
        let json = try workspace.file("a.json", "{}")
        let sound = run("lint", list, json, archive)
        #expect(sound.status == .success)
        #expect(
            sound.output.lines == [
                "\(list): OK, binary property list", "\(json): OK, JSON", "\(archive): OK, keyed archive",
            ]
        )
        #expect(run("lint", list, "--quiet").output.text.isEmpty)
        let bad = try workspace.file("bad.json", "{\n\"a\":\n}")
        let faulty = run("lint", bad, list)
        #expect(faulty.status == .failure)
        #expect(faulty.output.lines == ["\(list): OK, binary property list"])
        #expect(faulty.errors.text.hasSuffix("at line 3, byte 7\n"), "\(faulty.errors.text)")
        let text = try workspace.file("bad.strings", "{\n  a = b;\n  c = ?;\n}")
        let unclear = run("lint", text).errors.text
        #expect(unclear.hasSuffix(", at line 3, byte 17\n"), "\(unclear)")
        let cut = workspace.url.appending(path: "cut.plist")
        try Data(contentsOf: URL(fileURLWithPath: list)).dropLast(4).write(to: cut)
        #expect(run("lint", cut.path).errors.text.contains(", at byte "))
        let empty = try workspace.file("empty", "")
        #expect(run("lint", empty).errors.text == "typed-cache: \(empty) cannot be read: it is empty\n")
    }

    @Test("Dates that lose a fraction of a second are told")
    func cutDates() throws {
        func date(_ seconds: TimeInterval) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        for (dates, note) in [
            ([date(1)], nil), ([date(1), date(0.5)], "a date has lost a fraction, at root.a.1"),
            ([date(0.5), date(-0.5)], "2 dates have lost a fraction, the first at root.a.0"),
        ] as [([Date], String?)] {
            let path = workspace.url.appending(path: "dates.plist")
            let list = try PropertyListSerialization.data(
                fromPropertyList: ["a": dates],
                format: .binary,
                options: 0
            )
            try list.write(to: path)
            let run = run("convert", path.path, "--to", "xml")
            #expect(run.status == .success)
            let told = note.map { "typed-cache: \(path.path): XML property lists have whole seconds: \($0)\n" }
            #expect(run.errors.text == told ?? "")
        }
    }

    @Test(
        "XML in every encoding that convert reads is read by lint and dump",
        arguments: [String.Encoding.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian],
        [false, true]
    )
    func encodings(encoding: String.Encoding, isMarked: Bool) throws {
        let text = (isMarked ? "\u{FEFF}" : "") + "<plist><dict><key>a</key><string>ü</string></dict></plist>"
        let path = workspace.url.appending(path: "wide.plist")
        try #require(text.data(using: encoding)).write(to: path)
        #expect(run("lint", path.path).output.lines == ["\(path.path): OK, XML property list"])
        #expect(run("dump", path.path).output.text == "root:\n  a: \"ü\"\n")
        #expect(run("convert", path.path, "--to", "json", "-o", "-").status == .success)
    }

    @Test("A damaged archive in XML is told as one, though it is a sound property list")
    func damagedArchive() throws {
        let text = """
            <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key><integer>7</integer>
            <key>$top</key><dict/><key>$objects</key><array/></dict></plist>
            """
        let path = try workspace.file("damaged.plist", text)
        #expect(run("lint", path).errors.text.contains("keyed archive of an unknown version"))
    }

    // MARK: The real command

    @Test("Binary lists go through pipes")
    func pipes() throws {
        let path = try plist("a.plist", sample, as: .xml)
        let (process, output, errors) = try RealTool.start(
            ["convert", "-", "--to", "binary"],
            input: URL(fileURLWithPath: path)
        )
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: Data(), errors: errors)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(bytes.starts(with: Array("bplist00".utf8)))
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
        #expect((list as? NSDictionary) == sample as NSDictionary)
        let failed = try RealTool.run(["lint", path, path + "x"])
        #expect(failed.status == 1 && failed.lines.count == 1)
        let missing = workspace.url.appending(path: "missing/a.plist").path
        let full = try RealTool.run(["convert", path, "--to", "xml", "-o", missing])
        #expect(full.status == 1 && full.errors.contains("\(missing) cannot be written: No such file"))
    }
}
