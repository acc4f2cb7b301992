import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Graphs that run in circles come back as they were, or not at all.
@Suite struct CycleTests {
    // MARK: The law

    @Test(arguments: 1...60) func everyGraphComesBackAsItWas(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let vertices = (0..<Int.random(in: 1...12, using: &random)).map { Vertex("vertex \($0) of many", $0) }
        for vertex in vertices {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                if let other = vertices.randomElement(using: &random) { vertex.edges.append(other) }
            }
            if Bool.random(using: &random) { vertex.next = vertices.randomElement(using: &random) }
            if Bool.random(using: &random) { vertex.back = vertices.randomElement(using: &random) }
            if Bool.random(using: &random) { vertex.table["k"] = vertices.randomElement(using: &random) }
            if Bool.random(using: &random) { vertex.list.add(vertices[0]) }
        }
        defer { for vertex in vertices { vertex.clear() } }
        let data = try KeyedArchiver.archivedData(withRootObject: vertices[0])
        let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Vertex.self, from: data)
        var copies: [ObjectIdentifier: Vertex] = [:]
        let reachable = reachable(from: vertices[0])
        compare(vertices[0], copy, copies: &copies) { reachable.contains(ObjectIdentifier($0)) }
        for copy in copies.values { copy.clear() }
    }

    /// Walks both graphs side by side; each object must have one copy and no more.
    private func compare(
        _ original: Vertex,
        _ copy: Vertex,
        copies: inout [ObjectIdentifier: Vertex],
        _ isReachable: (Vertex) -> Bool
    ) {
        if let known = copies[ObjectIdentifier(original)] {
            #expect(known === copy)
            return
        }
        copies[ObjectIdentifier(original)] = copy
        #expect(copy.name == original.name)
        #expect(copy.number == original.number)
        #expect(copy.edges.count == original.edges.count)
        for (edge, other) in zip(original.edges, copy.edges) { compare(edge, other, copies: &copies, isReachable) }
        #expect((copy.next == nil) == (original.next == nil))
        if let next = original.next, let other = copy.next { compare(next, other, copies: &copies, isReachable) }
        // Archived only if something else than such references leads to it.
        if let back = original.back, isReachable(back) {
            #expect(copy.back != nil)
        } else {
            #expect(copy.back == nil)
        }
        if let back = original.back, let other = copy.back { compare(back, other, copies: &copies, isReachable) }
        #expect(copy.table.count == original.table.count)
        if let entry = original.table["k"], let other = copy.table["k"] {
            compare(entry, other, copies: &copies, isReachable)
        }
        #expect(copy.list.count == original.list.count)
        for index in 0..<original.list.count {
            if let member = original.list[index] as? Vertex, let other = copy.list[index] as? Vertex {
                compare(member, other, copies: &copies, isReachable)
            }
        }
    }

    /// The objects that strong references lead to.
    private func reachable(from root: Vertex) -> Set<ObjectIdentifier> {
        var found: Set<ObjectIdentifier> = []
        var waiting = [root]
        while let vertex = waiting.popLast() {
            guard found.insert(ObjectIdentifier(vertex)).inserted else { continue }
            waiting += vertex.edges + vertex.table.values + [vertex.next].compactMap(\.self)
            for index in 0..<vertex.list.count { (vertex.list[index] as? Vertex).map { waiting.append($0) } }
        }
        return found
    }

    // MARK: Cases

    @Test func anObjectMayReferToItself() throws {
        let vertex = Vertex("alone", 1)
        vertex.next = vertex
        defer { vertex.clear() }
        let data = try KeyedArchiver.archivedData(withRootObject: vertex)
        let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Vertex.self, from: data)
        #expect(copy.next === copy)
        #expect(copy.name == "alone")
        copy.clear()
    }

    @Test func partsMayReferToTheirOwnerStronglyAndWithoutOwning() throws {
        let owner = Whole("the whole of two parts")
        owner.parts = [Part(owner, "first"), Part(owner, "second")]
        let data = try KeyedArchiver.archivedData(withRootObject: owner)
        let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Whole.self, allowing: [Part.self], from: data)
        #expect(copy.title == "the whole of two parts")
        #expect(copy.parts.map(\.name) == ["first", "second"])
        #expect(copy.parts.allSatisfy { $0.owner === copy })
        #expect(copy.favorite === copy.parts[1])
    }

    @Test func nothingIsLeakedAndNothingIsFreedTwice() throws {
        let owner = Whole("whole")
        owner.parts = [Part(owner, "a"), Part(owner, "b")]
        let data = try KeyedArchiver.archivedData(withRootObject: owner)
        weak var gone: Whole?
        weak var part: Part?
        do {
            let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Whole.self, allowing: [Part.self], from: data)
            gone = copy
            part = copy.parts[0]
            #expect(part != nil)
        }
        #expect(gone == nil)
        #expect(part == nil)
    }

    @Test func membersOfMutableCollectionsMayReferToThem() throws {
        let holder = Holder()
        holder.array.add(holder)
        holder.dictionary.setObject(holder, forKey: "holder" as NSString)
        holder.set.add(holder)
        defer { holder.clear() }
        for root in [holder.array, holder.dictionary, holder.set] as [NSObject?] {
            let data = try KeyedArchiver.archivedData(withRootObject: #require(root))
            let copy = try KeyedUnarchiver.unarchivedRoot(
                ofClass: NSObject.self,
                allowing: [Holder.self],
                from: data
            )
            let member = (copy as? NSArray)?.firstObject ?? (copy as? NSDictionary)?.allValues.first
            let inside = try #require((member ?? (copy as? NSSet)?.anyObject()) as? Holder)
            #expect([inside.array, inside.dictionary, inside.set].contains { $0 === copy })
            #expect(inside.array.firstObject as? Holder === inside)
            inside.clear()
        }
    }

    // MARK: Cycles that cannot be restored

    @Test func aPropertyThatCannotBeEmptyIsNamed() throws {
        let strict = Strict()
        let data = try KeyedArchiver.archivedData(withRootObject: strict)
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedRoot(ofClass: Strict.self, from: data)
        }
        #expect(error?.code == .cyclicReference)
        #expect(error?.message.contains("Strict.helper") == true)
    }

    @Test func anInitializerThatHandsItselfOutIsAnError() throws {
        let loud = Loud()
        loud.parts = [Part2(), Part2()]
        for part in loud.parts { part.owner = loud }
        let data = try KeyedArchiver.archivedData(withRootObject: loud)
        #expect(
            code { _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Loud.self, allowing: [Part2.self], from: data) }
                == .cyclicReference
        )
    }

    @Test func aPartThatChangesItsOwnerTooEarlyIsAnError() throws {
        let loud = Vertex("owner", 1)
        let meddler = Meddler("part", 2)
        loud.next = meddler
        meddler.back = loud
        defer { loud.clear() }
        let data = try KeyedArchiver.archivedData(withRootObject: loud)
        #expect(
            code { _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Vertex.self, from: data) } == .cyclicReference
        )
    }

    @Test func anOwnerThatRefusesAfterItsPartsReferToItIsAnError() throws {
        let fickle = Fickle("refuses", 1)
        fickle.next = Vertex("part", 2)
        fickle.next?.next = fickle
        defer { fickle.clear() }
        let data = try KeyedArchiver.archivedData(withRootObject: fickle)
        #expect(
            code { _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Vertex.self, from: data) } == .cyclicReference
        )
    }

    @Test func whoLooksAtAnUnfinishedObjectFindsItEmpty() throws {
        let curious = Curious("curious", 2)
        let vertex = Vertex("looked at", 1)
        vertex.edges = [curious]
        curious.back = vertex
        defer { vertex.clear() }
        let data = try KeyedArchiver.archivedData(withRootObject: vertex)
        let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Vertex.self, from: data)
        #expect((copy.edges.first as? Curious)?.seen == "|0|0|true")
        #expect(copy.name == "looked at")
        copy.clear()
    }

    // MARK: References that wait

    @Test func aReferenceIsDeliveredWhenTheGraphIsComplete() throws {
        let folder = Folder("root")
        folder.children = [Folder("a"), Folder("b")]
        for child in folder.children { child.parent = folder }
        folder.children[0].children = [Folder("a.a")]
        folder.children[0].children[0].parent = folder.children[0]
        let data = try KeyedArchiver.archivedData(withRootObject: folder)
        let copy = try KeyedUnarchiver.unarchivedRoot(ofClass: Folder.self, from: data)
        #expect(copy.children.map(\.name) == ["a", "b"])
        #expect(copy.children.allSatisfy { $0.parent === copy })
        #expect(copy.children[0].children[0].parent === copy.children[0])
        #expect(copy.children.allSatisfy { $0.nameOfParent == "root" })
        #expect(copy.parent == nil)
    }

    @Test func anAccessorThatThrowsDeliversToo() throws {
        let folder = Folder("root")
        folder.children = [Folder("a")]
        folder.children[0].parent = folder
        let data = try KeyedArchiver.archivedData(withRootObject: folder)
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Folder.self])
        let copy = try unarchiver.decode(Folder.self, forKey: "root")
        #expect(copy.children[0].parent === copy)
    }

    @Test func nothingIsDeliveredToAnObjectThatRefused() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("KeyedArchiveTests.Hesitant", for: Pair.self)
        archiver.encode(Pair(Base(title: "b"), nil), forKey: "hesitant")
        let unarchiver = try KeyedUnarchiver(
            forReadingFrom: archiver.encodedData,
            classes: [Hesitant.self, Base.self]
        )
        Hesitant.delivered = 0
        #expect(unarchiver.decodeObject(forKey: "hesitant") == nil)
        #expect(Hesitant.delivered == 0)
    }

    @Test func aGraphWhoseCircleFailedIsNotUsedAnyMore() throws {
        let fickle = Fickle("refuses", 1)
        fickle.next = Vertex("part", 2)
        fickle.next?.next = fickle
        defer { fickle.clear() }
        let archiver = KeyedArchiver()
        archiver.encode(fickle, forKey: "fickle")
        archiver.encode(fickle.next, forKey: "part")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: [Vertex.self])
        // A caller that ignores the error gets no other object either.
        #expect((try? unarchiver.decode(Vertex.self, forKey: "fickle")) == nil)
        #expect(unarchiver.decodeObject(forKey: "part") == nil)
        #expect(throws: ArchiveError.self) { try unarchiver.finishDecoding() }
    }
}

// MARK: Models

class Vertex: NSObject, NSCoding {
    let name: String
    let number: Int
    var edges: [Vertex] = []
    var next: Vertex?
    weak var back: Vertex?
    var table: [String: Vertex] = [:]
    lazy var list = NSMutableArray()
    private var place = CGRect(x: 1, y: 2, width: 3, height: 4)
    private(set) var kind = Kind.plain
    private var stamp = Date(timeIntervalSinceReferenceDate: 1)

    enum Kind: Int { case plain, fancy }

    init(_ name: String, _ number: Int) {
        self.name = name
        self.number = number
    }

    required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String else { return nil }
        self.name = name
        number = coder.decodeInteger(forKey: "number")
        edges = coder.decodeObject(forKey: "edges") as? [Vertex] ?? []
        next = coder.decodeObject(of: Vertex.self, forKey: "next")
        table = coder.decodeObject(forKey: "table") as? [String: Vertex] ?? [:]
        super.init()
        back = coder.decodeObject(forKey: "back") as? Vertex
        list = coder.decodeObject(forKey: "list") as? NSMutableArray ?? NSMutableArray()
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(number, forKey: "number")
        coder.encode(edges, forKey: "edges")
        coder.encode(next, forKey: "next")
        coder.encodeConditionalObject(back, forKey: "back")
        coder.encode(table, forKey: "table")
        coder.encode(list, forKey: "list")
    }

    func clear() {
        edges = []
        next = nil
        table = [:]
        list.removeAllObjects()
    }
}

/// Changes the object that it refers to while that is being decoded.
final class Meddler: Vertex {
    required init?(coder: NSCoder) {
        super.init(coder: coder)
        back?.edges.append(self)
    }
    override init(_ name: String, _ number: Int) { super.init(name, number) }
}

final class Fickle: Vertex {
    required init?(coder: NSCoder) {
        super.init(coder: coder)
        return nil
    }
    override init(_ name: String, _ number: Int) { super.init(name, number) }
}

/// Reads the object that it refers to while that is being decoded.
final class Curious: Vertex {
    var seen = ""
    required init?(coder: NSCoder) {
        super.init(coder: coder)
        if let back {
            seen = "\(back.name)|\(back.number)|\(back.edges.count + back.table.count)|\(back.next == nil)"
        }
    }
    override init(_ name: String, _ number: Int) { super.init(name, number) }
}

private final class Whole: NSObject, NSCoding {
    var title: String
    var parts: [Part] = []
    weak var favorite: Part?

    init(_ title: String) { self.title = title }

    required init?(coder: NSCoder) {
        title = coder.decodeObject(forKey: "title") as? String ?? ""
        parts = coder.decodeObject(forKey: "parts") as? [Part] ?? []
        super.init()
        favorite = parts.last
    }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "title")
        coder.encode(parts, forKey: "parts")
    }
}

private final class Part: NSObject, NSCoding {
    let name: String
    unowned let owner: Whole

    init(_ owner: Whole, _ name: String) {
        self.owner = owner
        self.name = name
    }

    required init?(coder: NSCoder) {
        guard let owner = coder.decodeObject(forKey: "owner") as? Whole else { return nil }
        self.owner = owner
        name = coder.decodeObject(forKey: "name") as? String ?? ""
    }

    func encode(with coder: NSCoder) {
        coder.encode(owner, forKey: "owner")
        coder.encode(name, forKey: "name")
    }
}

/// Has a property that nothing can stand for, and refers to itself.
private final class Strict: NSObject, NSCoding {
    let helper: NSObject

    override init() { helper = NSObject() }

    required init?(coder: NSCoder) {
        _ = coder.decodeObject(forKey: "me")
        helper = NSObject()
    }

    func encode(with coder: NSCoder) { coder.encode(self, forKey: "me") }
}

/// Sets itself as the owner of its parts although they have it.
private final class Loud: NSObject, NSCoding {
    var parts: [Part2] = []

    override init() {}

    required init?(coder: NSCoder) {
        parts = coder.decodeObject(forKey: "parts") as? [Part2] ?? []
        super.init()
        for part in parts { part.owner = self }
    }

    func encode(with coder: NSCoder) { coder.encode(parts, forKey: "parts") }
}

private final class Part2: NSObject, NSCoding {
    weak var owner: Loud?

    override init() {}

    required init?(coder: NSCoder) { owner = coder.decodeObject(forKey: "owner") as? Loud }

    func encode(with coder: NSCoder) { coder.encode(owner, forKey: "owner") }
}

private final class Folder: NSObject, NSCoding {
    let name: String
    var children: [Folder] = []
    unowned(unsafe) var parent: Folder?
    var nameOfParent: String?

    init(_ name: String) { self.name = name }

    required init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String ?? ""
        children = coder.decodeObject(forKey: "children") as? [Folder] ?? []
        super.init()
        coder.decodeObject(of: Folder.self, forKey: "parent") { [unowned(unsafe) self] parent in
            self.parent = parent
            nameOfParent = parent.name
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(children, forKey: "children")
        coder.encodeConditionalObject(parent, forKey: "parent")
    }
}

private final class Holder: NSObject, NSCoding {
    // Optional, so that they can be empty.
    let array: NSMutableArray!
    let dictionary: NSMutableDictionary!
    let set: NSMutableSet!

    override init() {
        array = NSMutableArray()
        dictionary = NSMutableDictionary()
        set = NSMutableSet()
    }

    required init?(coder: NSCoder) {
        array = coder.decodeObject(forKey: "array") as? NSMutableArray ?? NSMutableArray()
        dictionary = coder.decodeObject(forKey: "dictionary") as? NSMutableDictionary ?? NSMutableDictionary()
        set = coder.decodeObject(forKey: "set") as? NSMutableSet ?? NSMutableSet()
    }

    func encode(with coder: NSCoder) {
        coder.encode(array, forKey: "array")
        coder.encode(dictionary, forKey: "dictionary")
        coder.encode(set, forKey: "set")
    }

    func clear() {
        array.removeAllObjects()
        dictionary.removeAllObjects()
        set.removeAllObjects()
    }
}

/// Waits for an object, and then refuses.
final class Hesitant: NSObject, NSCoding {
    nonisolated(unsafe) static var delivered = 0

    required init?(coder: NSCoder) {
        super.init()
        coder.decodeObject(of: Base.self, forKey: "first") { [unowned self] _ in
            Hesitant.delivered += 1
            _ = self.description
        }
        return nil
    }

    func encode(with coder: NSCoder) {}
}
