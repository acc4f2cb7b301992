import Foundation
import Testing

@testable import KeyedArchive

@Suite struct ArchiveTreeTests {
    /// Two lions that know each other, their cubs in a list that both share, and a place that was never filled.
    private static let zoo = ArchiveTree(
        roots: [.init(key: "root", value: .reference(1)), .init(key: "$0", value: .integer(3))],
        objects: [
            .empty,
            .instance(
                .init(
                    classPlace: 4,
                    fields: [
                        .init(key: "name", value: .reference(2)), .init(key: "mate", value: .reference(3)),
                        .init(key: "cubs", value: .reference(5)), .init(key: "keeper", value: .reference(7)),
                        .init(key: "$$price", value: .float(0.1)), .init(key: "$0", value: .bool(true)),
                    ]
                )
            ),
            .value(.string("Leo\u{1B}[2J\"")),
            .instance(
                .init(
                    classPlace: 4,
                    fields: [
                        .init(key: "name", value: .string("Elsa")), .init(key: "mate", value: .reference(1)),
                        .init(key: "cubs", value: .reference(5)), .init(key: "weight", value: .real(130)),
                        .init(key: "legs", value: .integer(4)), .init(key: "stars", value: .unsigned(.max)),
                    ]
                )
            ),
            .classDescription(
                .init(name: "Lion", chain: ["Zoo.Lion", "Zoo.Cat", "NSObject"], hints: ["Cat", "Animal"])
            ),
            .instance(
                .init(
                    classPlace: 6,
                    fields: [.init(key: "NS.objects", value: .array([.reference(8), .reference(3)]))]
                )
            ),
            .classDescription(.init(name: "NSArray", chain: ["NSArray", "NSObject"])),
            .empty,
            .instance(.init(classPlace: 9, fields: [])),
            .classDescription(.init(name: "Cub")),
            .value(
                .array([
                    .null, .set([.data(Data([1]))]), .dictionary([.init(key: "$a", value: .date(.distantPast))]),
                ])
            ),
        ]
    )

    @Test func aTreeIsWrittenAsItIs() throws {
        let data = try Self.zoo.archivedData()
        let back = try ArchiveTree(data)
        #expect(back == Self.zoo)
        #expect(back.isSameGraph(as: Self.zoo))
        #expect(try back.archivedData() == data)
        #expect(back.roots.map(\.name) == ["root", "$0"])
        #expect(back.instance(.reference(1))?["$price"] == .float(0.1))
        #expect(back.instance(.reference(1))?["keeper"] == .reference(7))
        // XML has no null and no sets.
        #expect(code { try Self.zoo.archivedData(as: .xml) } == .unsupportedType)
        #expect(code { try Self.zoo.archivedData(as: .openStep) } == .unsupportedFormat)
    }

    @Test func xmlKeepsAllButTheWidthOfReals() throws {
        var tree = Self.zoo
        tree.objects.removeLast()
        tree.objects[2] = .value(.string("Leo"))
        let back = try ArchiveTree(tree.archivedData(as: .xml))
        #expect(back != tree)
        #expect(back == widened(tree))
    }

    @Test func everyDifferenceIsSeen() throws {
        func changed(_ body: (inout ArchiveTree) -> Void) -> ArchiveTree {
            var tree = Self.zoo
            body(&tree)
            return tree
        }
        let different = [
            changed { $0.roots[1].value = .unsigned(3) },
            changed { $0.roots[1].key = "$1" },
            changed { $0.roots.removeLast() },
            changed { $0.objects.append(.empty) },
            changed { $0.objects[7] = .value(.null) },
            changed { $0.objects[2] = .value(.string("Leo")) },
            changed {
                $0.objects[4] = .classDescription(.init(name: "Lion", chain: [], hints: ["Cat", "Animal"]))
            },
            changed {
                $0.objects[4] = .classDescription(.init(name: "Lion", chain: ["Zoo.Lion", "Zoo.Cat", "NSObject"]))
            },
            changed { $0.objects[10] = .value(.array([.null, .array([.data(Data([1]))])])) },
        ]
        for tree in different {
            #expect(tree != Self.zoo)
            #expect(tree == tree)
        }
        // Letters that look alike, and numbers that compare alike.
        let composed = ArchiveTree.Value.string("\u{E9}")
        #expect(composed != .string("e\u{301}"))
        #expect(ArchiveTree.Value.real(0) != .real(-0.0))
        #expect(ArchiveTree.Value.real(.nan) == .real(.nan))
        #expect(ArchiveTree.Value.real(1) != .integer(1))
        #expect(ArchiveTree.Value.real(1) != .float(1))
    }

    @Test func orderOfFieldsMeansNothing() throws {
        var tree = Self.zoo
        tree.roots.reverse()
        guard case .instance(var lion) = tree.objects[1] else { return }
        lion.fields.shuffle()
        tree.objects[1] = .instance(lion)
        #expect(tree == Self.zoo)
    }

    @Test func theSameGraphInOtherPlaces() throws {
        // Turns the places round, all but the first.
        let count = Self.zoo.objects.count
        func moved(_ place: Int) -> Int { place == 0 ? 0 : count - place }
        func moved(_ value: ArchiveTree.Value) -> ArchiveTree.Value {
            switch value {
            case .reference(let place): .reference(moved(place))
            case .array(let members): .array(members.map { moved($0) })
            default: value
            }
        }
        func moved(_ fields: [ArchiveTree.Field]) -> [ArchiveTree.Field] {
            fields.map { .init(key: $0.key, value: moved($0.value)) }
        }
        var tree = Self.zoo
        tree.roots = moved(tree.roots)
        for place in 1..<count {
            var object = Self.zoo.objects[place]
            if case .instance(let instance) = object {
                object = .instance(.init(classPlace: moved(instance.classPlace), fields: moved(instance.fields)))
            }
            tree.objects[moved(place)] = object
        }
        #expect(tree != Self.zoo)
        #expect(tree.isSameGraph(as: Self.zoo))
        #expect(Self.zoo.isSameGraph(as: tree))

        // A copy in place of a shared object makes another graph.
        var split = Self.zoo
        split.objects.append(split.objects[5])
        guard case .instance(var elsa) = split.objects[3] else { return }
        elsa.fields[2].value = .reference(split.objects.count - 1)
        split.objects[3] = .instance(elsa)
        #expect(!split.isSameGraph(as: Self.zoo))
        #expect(!Self.zoo.isSameGraph(as: split))
        split.objects[5] = .instance(.init(classPlace: 6, fields: []))
        #expect(!split.isSameGraph(as: Self.zoo))
    }

    @Test func circlesOfInlineListsEnd() throws {
        var tree = ArchiveTree(
            roots: [.init(key: "root", value: .reference(1))],
            objects: [.empty, .value(.array([.reference(1), .reference(2)])), .value(.reference(2))]
        )
        #expect(tree.isSameGraph(as: tree))
        #expect(tree.description == "root:\n  0: see #1\n  1: see #2\n")
        #expect(try ArchiveTree(tree.archivedData()) == tree)
        tree.roots[0].value = .reference(2)
        #expect(tree.description == "root: see #2\n")
        #expect(tree.value(at: "root", "0") == nil)
    }

    @Test func treesThatDoNotHoldTogetherAreNotWritten() throws {
        func code(_ body: (inout ArchiveTree) -> Void) -> ArchiveError.Code? {
            var tree = Self.zoo
            body(&tree)
            // Looking at it is always possible.
            _ = tree.description
            _ = tree == Self.zoo
            _ = tree.isSameGraph(as: Self.zoo)
            return KeyedArchiveTests.code { try tree.archivedData() }
        }
        #expect(code { $0.roots[0].value = .reference(11) } == .corrupted)
        #expect(code { $0.roots[0].value = .reference(-1) } == .corrupted)
        #expect(code { $0.objects[4] = .empty } == .corrupted)
        #expect(code { $0.objects[8] = .instance(.init(classPlace: 99, fields: [])) } == .corrupted)
        #expect(code { $0.objects[8] = .value(.string("$null")) } == .unsupportedType)
        #expect(code { $0.objects[8] = .value(.dictionary([])) } == .unsupportedType)
        #expect(
            code { $0.objects[8] = .instance(.init(classPlace: 9, fields: [.init(key: "$class", value: .null)])) }
                == .unsupportedType
        )
        var deep = ArchiveTree.Value.null
        for _ in 0..<300 { deep = .array([deep]) }
        #expect(code { $0.roots[0].value = deep } == .limitExceeded)
    }

    @Test func outlineShowsSharingAndCircles() throws {
        var tree = Self.zoo
        #expect(
            tree.description == """
                $top: archive #0
                  root: Lion #1
                    name: "Leo\\u{1b}[2J\\""
                    mate: Lion #3
                      name: "Elsa"
                      mate: see #1
                      cubs: NSArray #5
                        0: Cub #8
                        1: see #3
                      weight: 130.0
                      legs: 4
                      stars: 18446744073709551615
                    cubs: see #5
                    keeper: null
                    $price: 0.1
                    $0: true
                  $0: 3

                """
        )
        tree.roots = [
            .init(key: "x", value: .array([.date(Date(timeIntervalSinceReferenceDate: 0.25)), .reference(4)]))
        ]
        #expect(tree.description == "x:\n  0: 2001-01-01T00:00:00.250Z\n  1: the class Lion\n")
    }

    @Test func longAndDeepArchivesAreShownInPart() throws {
        var tree = ArchiveTree(roots: [.init(key: "root", value: .reference(2))], objects: [.empty])
        tree.objects.append(.classDescription(.init(name: "Link")))
        for place in 2..<100_000 {
            tree.objects.append(
                .instance(.init(classPlace: 1, fields: [.init(key: "next", value: .reference(place + 1))]))
            )
        }
        tree.objects.append(.empty)
        let outline = ArchiveOutline(tree)
        #expect(outline.lines.count == 1_001)
        #expect(outline.lines.last?.content == .omitted)
        #expect(tree.isSameGraph(as: tree))
        tree.roots[0].value = .string(String(repeating: "a", count: 1_000_000))
        #expect(tree.description.utf8.count < 300)
    }

    @Test func pathsLeadToValues() throws {
        let city = try ArchiveTree(KeyedArchiver.archivedData(encoding: Samples.city))
        #expect(city.value(at: "root", "name") == .string(Samples.city.name))
        #expect(city.value(at: "root", "nowhere") == nil)
        #expect(city.value(at: "elsewhere") == nil)
        let nested: [String: Any] = [
            "list": [1, ["x": UUID(uuidString: "0AD863BA-7584-40CF-8896-BD87B3280C34") as Any]]
        ]
        let tree = try ArchiveTree(KeyedArchiver.archivedData(withRootObject: nested))
        #expect(tree.value(at: "root", "list", "1", "x") == .string("0AD863BA-7584-40CF-8896-BD87B3280C34"))
        #expect(tree.value(at: "root", "list", "0") == .integer(1))
        #expect(tree.roots.first.flatMap { tree.className(of: $0.value) } == "NSDictionary")
        let based =
            URL(string: "c?q=1", relativeTo: URL(string: "b/", relativeTo: URL(string: "https://h/a/"))) as Any
        let url = try ArchiveTree(KeyedArchiver.archivedData(withRootObject: based))
        #expect(url.value(at: "root", "NS.relative") == .string("c?q=1"))
        #expect(url.roots.first.flatMap { url.scalar($0.value) } == nil)
        #expect(url.roots.first.flatMap { url.absoluteText(ofURL: $0.value) } == "https://h/a/b/c?q=1")
        let object = try #require(NSURL(string: "c?q=1", relativeTo: URL(string: "https://h/a/")))
        for root in [object, [object]] as [Any] {
            let tree = try ArchiveTree(KeyedArchiver.archivedData(withRootObject: root))
            let value = tree.roots.first.map { tree.members($0.value)?.first ?? $0.value }
            #expect(value.flatMap { tree.absoluteText(ofURL: $0) } == "https://h/a/c?q=1")
        }
        let everything = try ArchiveTree(KeyedArchiver.archivedData(withRootObject: Everything()))
        #expect(everything.value(at: "root", "date") == .date(Everything.date))
        #expect(everything.value(at: "root", "url") == .string("https://example.com/a?b=c"))
        #expect(everything.value(at: "root", "null") == .null)
        #expect(everything.value(at: "root", "float") == .float(1.5))
        #expect(everything.value(at: "root", "double") == .real(3.5))
    }
}

/// A tree as it comes out of XML, which has one kind of reals.
func widened(_ tree: ArchiveTree) -> ArchiveTree {
    func widened(_ value: ArchiveTree.Value) -> ArchiveTree.Value {
        switch value {
        case .float(let number): .real(Double(number))
        case .array(let members): .array(members.map { widened($0) })
        case .dictionary(let fields): .dictionary(widened(fields))
        default: value
        }
    }
    func widened(_ fields: [ArchiveTree.Field]) -> [ArchiveTree.Field] {
        fields.map { .init(key: $0.key, value: widened($0.value)) }
    }
    var tree = tree
    tree.roots = widened(tree.roots)
    for place in tree.objects.indices {
        switch tree.objects[place] {
        case .value(let value): tree.objects[place] = .value(widened(value))
        case .instance(var instance):
            instance.fields = widened(instance.fields)
            tree.objects[place] = .instance(instance)
        default: break
        }
    }
    return tree
}
