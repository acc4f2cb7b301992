import Foundation
import KeyedArchive
import SequentialArchive
import Testing

@testable import CacheCommand

/// Archives of `NSArchiver` as documents of the command.
struct TypedStreamCommandTests {
    private let workspace: Workspace
    private let path: String

    init() throws {
        workspace = try Workspace()
        path = workspace.url.appending(path: "old.typedstream").path
        let list: [Any] = [
            "Löwe", 1, 2.5, true, ["k": "v"], Date(timeIntervalSinceReferenceDate: 0),
            URL(string: "d", relativeTo: URL(string: "https://a.b/")) as Any, NSMutableArray(array: ["x"]),
        ]
        try SequentialArchiver.archivedData(withRootObject: list).write(to: URL(fileURLWithPath: path))
    }

    private func run(_ arguments: String...) -> ToolRun { ToolRun(arguments, on: MemoryBackend(), input: "") }

    private func write(_ name: String, _ data: Data) throws -> String {
        let url = workspace.url.appending(path: name)
        try data.write(to: url)
        return url.path
    }

    /// An object of a user's class that holds itself, with a structure and bytes.
    private func zoo() throws -> String {
        let stream = TypedStream(
            groups: [.init(types: "@", values: [.reference(0)])],
            objects: [
                .instance(
                    .init(
                        classPlace: 1,
                        groups: [
                            .init(types: "@", values: [.reference(0)]),
                            .init(
                                types: "i{_NSPoint=ff}",
                                values: [.integer(7), .structure([.integer(1), .float(0.5)])]
                            ),
                            .init(types: "[2c]", values: [.bytes(Data([0, 200]))]),
                            .init(types: "#", values: [.reference(1)]),
                            .init(types: ":", values: [.name(Data("setName:".utf8))]),
                        ]
                    )
                ),
                .classDescription(.init(name: "Zoo", version: 3, superclass: 2)),
                .classDescription(.init(name: "NSObject")),
            ]
        )
        return try write("zoo.typedstream", stream.data())
    }

    @Test("An archive without keys is shown as a tree, its groups by their types")
    func trees() throws {
        #expect(
            run("dump", try zoo()).output.text == """
                @: Zoo #0
                  @: see #0
                  i{_NSPoint=ff}:
                    0: 7
                    1:
                      0: 1
                      1: 0.5
                  [2c]: 2 bytes of data
                  #: the class Zoo
                  :: "setName:"

                """
        )
        let dumped = run("dump", path)
        #expect(dumped.status == .success)
        #expect(dumped.output.text.hasPrefix("@: NSArray #0\n  i: 8\n  @: \"Löwe\"\n"))
        let json = run("dump", path, "--json").output.text
        #expect(
            json.hasPrefix(#"{"label":"@","type":"NSArray","identifier":0,"children":[{"label":"i","value":8}"#)
        )
    }

    @Test("An archive without keys is converted to its values")
    func conversion() throws {
        #expect(run("convert", path, "--to", "binary", "-o", path + ".plist").status == .success)
        let data = try Data(contentsOf: URL(fileURLWithPath: path + ".plist"))
        let list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [Any])
        #expect(list[0] as? String == "Löwe")
        #expect(list[1] as? Int == 1)
        #expect(list[2] as? Double == 2.5)
        #expect(list[3] as? Bool == true)
        #expect(list[4] as? [String: String] == ["k": "v"])
        #expect(list[5] as? Date == Date(timeIntervalSinceReferenceDate: 0))
        #expect(list[6] as? String == "https://a.b/d")
        #expect(list[7] as? [String] == ["x"])
        // The archive itself is as it was.
        #expect(try TypedStream(Data(contentsOf: URL(fileURLWithPath: path))).objects.count > 8)
        let refused = run("convert", path, "--to", "json", "-o", "-")
        #expect(refused.status != .success)
        #expect(refused.errors.text.contains("a date, at root.5"))
    }

    @Test("Other objects are dictionaries, and one that holds itself is named by its number")
    func otherObjects() throws {
        let converted = run("convert", try zoo(), "--to", "xml", "-o", "-")
        #expect(converted.status == .success, "\(converted.errors.text)")
        let text = String(decoding: converted.output.bytes, as: UTF8.self)
        #expect(text.contains("<key>$class</key>"))
        #expect(text.contains("<string>Zoo</string>"))
        let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) as? [String: Any]
        let values = try #require(list?["$values"] as? [Any])
        #expect(values[0] as? [String: Int] == ["$object": 0])
        #expect(values[1] as? Int == 7)
        #expect(values[2] as? [Double] == [1, 0.5])
        #expect(values[3] as? Data == Data([0, 200]))
        #expect(values[4] as? String == "Zoo")
    }

    @Test("Nil is the text $null in XML, and null in JSON")
    func nilValues() throws {
        let stream = TypedStream(
            groups: [.init(types: "@i", values: [.reference(nil), .integer(7)])],
            objects: []
        )
        let path = try write("nil.typedstream", stream.data())
        let converted = run("convert", path, "--to", "xml", "-o", "-")
        let xml = String(decoding: converted.output.bytes, as: UTF8.self)
        #expect(xml.contains("<string>$null</string>\n\t<integer>7</integer>"), "\(xml)\(converted.errors.text)")
        let json = run("convert", path, "--to", "json", "-o", "-").output.bytes
        #expect(String(decoding: json, as: UTF8.self).contains("null"))
    }

    @Test("Lists that double with each level do not fill the memory")
    func doublingLists() throws {
        var objects: [TypedStream.Object] = [
            .classDescription(.init(name: "NSArray", superclass: 1)), .classDescription(.init(name: "NSObject")),
            .instance(.init(classPlace: 0, groups: [.init(types: "i", values: [.integer(0)])])),
        ]
        for _ in 0..<60 {
            let member = TypedStream.Group(types: "@", values: [.reference(objects.count - 1)])
            objects.append(
                .instance(.init(classPlace: 0, groups: [.init(types: "i", values: [.integer(2)]), member, member]))
            )
        }
        let root = TypedStream.Group(types: "@", values: [.reference(objects.count - 1)])
        let path = try write("doubling", TypedStream(groups: [root], objects: objects).data())
        let converted = run("convert", path, "--to", "json", "-o", "-")
        #expect(converted.status == .success)
        #expect(converted.output.bytes.count < 10_000_000)
        #expect(run("dump", path).status == .success)
    }

    @Test("A damaged archive without keys is named with the byte, and the next one is checked")
    func linting() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let broken = try write("broken", data.dropLast(3))
        let checked = run("lint", broken, path)
        #expect(checked.status != .success)
        #expect(checked.errors.text.contains("byte \(data.count - 3)"))
        #expect(checked.output.text == "\(path): OK, archive of NSArchiver\n")
        #expect(run("lint", path, "--quiet").status == .success)
    }

    @Test("The real command reads archives without keys")
    func realTool() throws {
        let dumped = try RealTool.run(["dump", path])
        #expect(dumped.status == 0)
        #expect(dumped.output.hasPrefix("@: NSArray #0\n"))
        let broken = try write("broken", Data(contentsOf: URL(fileURLWithPath: path)).prefix(40))
        let checked = try RealTool.run(["lint", broken, path])
        #expect(checked.status == 1)
        #expect(checked.errors.contains("at byte 33"))
        #expect(checked.output.contains("OK, archive of NSArchiver"))
    }
}
