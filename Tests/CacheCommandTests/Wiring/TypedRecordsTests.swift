import Foundation
import Testing

@testable import CacheCommand
@testable import KeyedArchive
@testable import TypedCache

/// An app fetches, as typed values, the entries that `warm` has saved, though the command knows none of the types.
@Suite struct TypedRecordsTests {
    struct Coordinate: Equatable {
        let latitude: Double
        let longitude: Double
    }

    final class EncodableCoordinate: NSObject, NSCoding {
        let coordinate: Coordinate?

        init(coordinate: Coordinate?) { self.coordinate = coordinate }

        required init?(coder: NSCoder) {
            guard let latitude = coder.decodeObject(forKey: "latitude") as? Double,
                let longitude = coder.decodeObject(forKey: "longitude") as? Double
            else { return nil }
            coordinate = Coordinate(latitude: latitude, longitude: longitude)
        }

        func encode(with coder: NSCoder) {
            coder.encode(coordinate?.latitude, forKey: "latitude")
            coder.encode(coordinate?.longitude, forKey: "longitude")
        }
    }

    struct Place: Codable, Encoded, Equatable {
        struct Owner: Codable, Equatable { var name: String }
        var name: String
        var height: Double
        var visitors: Int
        var isOpen: Bool?
        var tags: [String]?
        var owner: Owner?
        var opened: Date?
        var page: URL?
        var id: UUID?
    }

    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func warm(_ source: String, _ options: String..., expecting status: CacheCommand.ExitStatus = .success)
    {
        _ = warm(source, options, expecting: status)
    }

    /// - Returns: the text that the command wrote to standard error.
    @discardableResult
    private func warm(
        _ source: String,
        _ options: [String],
        expecting status: CacheCommand.ExitStatus = .success
    ) -> String {
        let errors = MemoryErrors(columns: nil)
        let environment = CommandEnvironment(
            output: MemoryOutput(),
            errors: errors,
            backend: TypedCacheBackend(),
            confirm: nil,
            now: { .zero },
            trapSignals: { TestInterruption() },
            openInput: { location, interruption throws(SourceError) in
                try FileInput(location, interruption: interruption)
            }
        )
        let arguments = ["warm", source, "--cache", "c", "--root", workspace.root] + options
        #expect(CommandLineTool(environment).run(arguments) == status, "\(errors.text)")
        return errors.text
    }

    private func cache<Value: Encoded>(_ type: Value.Type) throws -> Cache<Value>
    where Value.Wrapper.Value == Value {
        try Cache(name: "c", directory: URL(fileURLWithPath: workspace.root))
    }

    @Test("A Codable type fetches records of its name, nested values included")
    func codable() throws {
        let source = try workspace.file(
            "places.ndjson",
            """
            {"name":"a","height":35,"visitors":1e3,"isOpen":true,"tags":["x","y"],"owner":{"name":"o"}}
            {"name":"b","height":0.5,"visitors":-2,"isOpen":null,"extra":[1,{"deep":null}]}
            """
        )
        warm(source, "--key", "name", "--type", ArchivedClass.of(Place.self).name)
        let places = try cache(Place.self)
        #expect(
            try places.fetch(forKey: "a")
                == Place(
                    name: "a",
                    height: 35,
                    visitors: 1_000,
                    isOpen: true,
                    tags: ["x", "y"],
                    owner: .init(name: "o")
                )
        )
        #expect(try places.fetch(forKey: "b") == Place(name: "b", height: 0.5, visitors: -2))
    }

    struct Journey: Codable, Encoded, Equatable {
        struct Stop: Codable, Equatable {
            var name: String?
            var minutes: Int?
        }
        var id: String
        var note: String?
        var first: Stop?
        var last: Stop?
        var stops: [Stop?]?
        var fares: [String: Double?]?
    }

    @Test("Nulls are kept wherever they stand, and optionals read them as nil")
    func nulls() throws {
        let text =
            #"{"id":"a","note":null,"first":{"name":null,"minutes":5},"last":null,"#
            + #""stops":[null,{"name":"x","minutes":null}],"fares":{"day":null,"week":9.5}}"#
        let source = try workspace.file("journeys.ndjson", text + "\n")
        let disk = DiskCache(workspace)
        warm(source, "--key", "id", "--type", ArchivedClass.of(Journey.self).name)
        let journey = Journey(
            id: "a",
            first: .init(minutes: 5),
            stops: [nil, .init(name: "x")],
            fares: ["day": nil, "week": 9.5]
        )
        #expect(try cache(Journey.self).fetch(forKey: "a") == journey)
        for isTyped in [true, false] {
            if !isTyped { warm(source, "--key", "id") }
            let printed = disk.run("get", "a", "--json").output.text
            let (left, right) = try (
                JSONSerialization.jsonObject(with: Data(printed.utf8)) as? NSDictionary,
                JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
            )
            #expect(left != nil && left == right, "\(printed)")
        }
    }

    @Test("Declared fields of CSV arrive as what they were declared")
    func declared() throws {
        let source = try workspace.file(
            "places.csv",
            """
            name,height,visitors,isOpen,opened,page,id,ignored
            a,35,7,true,2001-01-01T00:00:10Z,https://example.com/a,01020304-0506-0708-090A-0B0C0D0E0F10,z
            """
        )
        warm(
            source,
            "--key",
            "name",
            "--type",
            ArchivedClass.of(Place.self).name,
            "--fields",
            "name:string,height:double,visitors:int,isOpen:bool?,opened:date,page:url,id:uuid"
        )
        let place = try cache(Place.self).fetch(forKey: "a")
        #expect(place?.height == 35)
        #expect(place?.isOpen == true)
        #expect(place?.opened == Date(timeIntervalSinceReferenceDate: 10))
        #expect(place?.page == URL(string: "https://example.com/a"))
        #expect(place?.id == UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0F10"))
    }

    @Test("A wrapper encoder's class fetches records of its name, whole numbers included")
    func wrapper() throws {
        let source = try workspace.file("c.json", #"[{"k":"home","latitude":35.82159,"longitude":51}]"#)
        warm(source, "--key", "k", "--type", ArchivedClass.of(EncodableCoordinate.self).name)
        let coordinates = try cache(Coordinate.self)
        #expect(try coordinates.fetch(forKey: "home") == Coordinate(latitude: 35.82159, longitude: 51))
    }

    @Test("Another type is refused; without a type a record is a dictionary")
    func otherTypes() throws {
        let source = try workspace.file("p.ndjson", #"{"name":"a","height":"1"}"#)
        warm(source, "--key", "name", "--type", "elsewhere.Place")
        #expect(throws: CacheError.self) { try cache(Place.self).fetch(forKey: "a") }
        warm(source, "--key", "name")
        #expect(try cache([String: String].self).fetch(forKey: "a") == ["name": "a", "height": "1"])
    }

    @Test(
        "A record may have any number of members, typed or not",
        arguments: [[], ["--type", "app.W"], ["--dry-run"], ["--dry-run", "--type", "app.W"]]
    )
    func manyMembers(options: [String]) throws {
        let objects = (0..<600).map { #"{"a":\#($0),"b":2,"c":3,"d":4}"# }.joined(separator: ",")
        let fields = (0..<3_000).map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
        let source = try workspace.file(
            "many.ndjson",
            "{\"id\":\"list\",\"list\":[\(objects)]}\n{\"id\":\"flat\",\(fields)}\n{\"id\":\"inner\",\"o\":{\(fields)}}\n"
        )
        warm(source, ["--key", "id"] + options)
        guard !options.contains("--dry-run") else { return }
        let disk = DiskCache(workspace)
        #expect(disk.run("get", "list").output.text.contains(#""a": 599,"#))
        #expect(disk.run("get", "flat").output.text.contains(#""f2999": 2999"#))
        #expect(disk.run("get", "inner").output.text.contains(#""f2999": 2999"#))
    }

    @Test(
        "Names that were made to share a hash are refused in words, by a dry run too",
        arguments: [[], ["--dry-run"]]
    )
    func crowdedNames(options: [String]) throws {
        // Foundation hashes the two ends and the middle of long strings.
        let end = String(repeating: "x", count: 60)
        let fields = (0..<1_025).map { #""\#(end)\#(10_000 + $0)\#(end)\#(end)\#(end)":1"# }
        let source = try workspace.file(
            "crowd.ndjson",
            "{\"id\":\"c\",\"o\":{\(fields.joined(separator: ","))}}\n{\"id\":\"d\"}\n"
        )
        let errors = warm(source, ["--key", "id"] + options, expecting: .failure)
        #expect(errors.contains("line 1: ") && errors.contains("share a hash"), "\(errors)")
        #expect(errors.contains("1 \(options.isEmpty ? "saved" : "valid"), 1 invalid"))
        _ = warm(source, ["--key", "id", "--type", "app.W"] + options, expecting: .failure)
    }

    @Test("Records with names of Foundation's classes would be no records")
    func reservedType() throws {
        let source = try workspace.file("p.ndjson", #"{"name":"a"}"#)
        warm(source, "--key", "name", "--type", "NSArray", expecting: .failure)
    }

    @Test("A record expires when it was told to")
    func timeToLive() throws {
        let source = try workspace.file("p.ndjson", #"{"name":"a"}"#)
        warm(source, "--key", "name", "--ttl", "7d")
        let access = try TypedCacheBackend().open(CacheSelection(name: "c", location: .root(workspace.root)))
        let all = try (0..<access.partCount).flatMap { try access.entries(inPart: $0) }
        let entry = try #require(try all.first?.get())
        let lifetime = try #require(entry.expiresAt).timeIntervalSince(entry.storedAt)
        let excess: TimeInterval = lifetime - 7 * 86_400
        #expect(excess >= 0 && excess < 1 / 256)
    }
}

extension TypedRecordsTests.EncodableCoordinate: WrapperEncoder {
    var value: TypedRecordsTests.Coordinate? { coordinate }
}

extension TypedRecordsTests.Coordinate: Encoded {
    var encoder: TypedRecordsTests.EncodableCoordinate { .init(coordinate: self) }
}
