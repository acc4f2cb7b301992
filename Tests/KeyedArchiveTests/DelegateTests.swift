import Foundation
import Testing

@testable import KeyedArchive

@Suite struct DelegateTests {
    // MARK: Archiving

    @Test func theDelegateSeesEveryObjectOnceAndInOrder() throws {
        let recorder = Recorder()
        let archiver = KeyedArchiver()
        archiver.delegate = recorder
        let shared = Base(title: "shared")
        archiver.encode(Pair(shared, shared), forKey: "root")
        archiver.encode(3, forKey: "number")
        try archiver.finishEncoding()
        #expect(
            recorder.log == [
                "will Pair", "will Base", "will String", "did String", "did Base", "did Pair", "finishing",
                "finished",
            ]
        )
    }

    @Test func whatTheDelegateChoosesIsArchivedForEveryReference() throws {
        let recorder = Recorder()
        let shared = Base(title: "original")
        recorder.substitute = { $0 as AnyObject === shared ? Base(title: "substitute") : $0 }
        let archiver = KeyedArchiver()
        archiver.delegate = recorder
        archiver.encodeConditionalObject(shared, forKey: "before")
        archiver.encode(Pair(shared, shared), forKey: "root")
        archiver.encode(shared, forKey: "after")
        let unarchiver = try KeyedUnarchiver(
            forReadingFrom: archiver.encodedData,
            classes: [Pair.self, Base.self]
        )
        let pair = try #require(unarchiver.decodeObject(forKey: "root") as? Pair)
        #expect(pair.first?.title == "substitute")
        #expect(pair.first === pair.second)
        #expect(unarchiver.decodeObject(forKey: "after") as? Base === pair.first)
        #expect((unarchiver.decodeObject(forKey: "before") as? Base)?.title == "substitute")
        #expect(recorder.log.filter { $0.hasPrefix("replacing") } == ["replacing Base by Base"])
    }

    @Test func aDelegateMayLeaveOutWhatItLikes() throws {
        let recorder = Recorder()
        recorder.substitute = { $0 is Base ? nil : $0 }
        let archiver = KeyedArchiver()
        archiver.delegate = recorder
        archiver.encode(Pair(Base(title: "a"), nil), forKey: "root")
        let pair = try KeyedUnarchiver.unarchivedRoot(ofClass: Pair.self, from: archiver.encodedData)
        #expect(pair.first == nil)
    }

    /// A reader would make no collection with a hole in it.
    @Test func nothingInThePlaceOfAMemberIsAnError() {
        let member = Base(title: "a")
        for collection in [
            [member], ["key": member], Set([member]), NSArray(object: member), NSSet(object: member),
            NSOrderedSet(object: member), NSDictionary(object: member, forKey: "key" as NSString),
        ] as [Any] {
            let recorder = Recorder()
            recorder.substitute = { $0 is Base ? nil : $0 }
            let archiver = KeyedArchiver()
            archiver.delegate = recorder
            archiver.encode(collection, forKey: "list")
            let error = #expect(throws: ArchiveError.self) { try archiver.encodedData }
            #expect(error?.code == .encodingFailed && error?.keyPath == ["list"], "\(type(of: collection))")
        }
    }

    @Test func anObjectMayChooseItsReplacement() throws {
        let original = Replaced()
        let data = try KeyedArchiver.archivedData(withRootObject: Couple(original, original))
        let couple = try KeyedUnarchiver.unarchivedRoot(ofClass: Couple.self, allowing: [Base.self], from: data)
        #expect((couple.first as? Base)?.title == "in its place")
        #expect(couple.first as? Base === couple.second as? Base)
    }

    @Test func aReplacementIsNotAskedForAnotherOne() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Restless(title: "0"))
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Restless.self, from: data).title == "0+")
    }

    @Test func anObjectMayChooseItsClass() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Disguised(title: "t"))
        let base = try KeyedUnarchiver.unarchivedRoot(ofClass: Base.self, from: data)
        #expect(type(of: base) == Base.self)
        #expect(base.title == "t")
    }

    // MARK: Unarchiving

    @Test func theDelegateSeesEveryDecodedObjectAndMayReplaceIt() throws {
        let shared = Base(title: "original")
        let data = try KeyedArchiver.archivedData(withRootObject: Pair(shared, shared))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Pair.self, Base.self])
        let delegate = Reader()
        let substitute = Base(title: "substitute")
        delegate.substitute = { $0 is Base ? substitute : $0 }
        unarchiver.delegate = delegate
        let pair = try #require(unarchiver.decodeObject(forKey: "root") as? Pair)
        try unarchiver.finishDecoding()
        #expect(pair.first === substitute)
        #expect(pair.second === substitute)
        #expect(
            delegate.log == [
                "did String", "did Base", "replacing Base", "did Pair", "finishing", "finished",
            ]
        )
    }

    @Test func theDelegateFindsClasses() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("Elsewhere.Unknown", for: Base.self)
        archiver.encode(Base(title: "found"), forKey: "root")
        let data = try archiver.encodedData
        let delegate = Reader()
        delegate.cls = Base.self
        for classes in [[Base.self], []] as [[AnyClass]] {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
            unarchiver.delegate = delegate
            let base = unarchiver.decodeObject(forKey: "root") as? Base
            // The delegate cannot allow a class that the unarchiver does not.
            #expect(base?.title == (classes.isEmpty ? nil : "found"))
            #expect((unarchiver.error as? ArchiveError)?.code == (classes.isEmpty ? .classNotAllowed : nil))
        }
        #expect(delegate.log.first == "what is Elsewhere.Unknown []")
    }

    /// The object asks for the replacement, or the delegate does; a part of the replacement refers to the object.
    @Test(arguments: [false, true]) func aReplacedObjectInACircleHasOneReplacement(byDelegate: Bool) throws {
        let child = Link()
        let parent = Link(other: child, isReplaced: !byDelegate)
        child.other = parent
        defer { child.other = nil }
        let delegate = Recorder()
        delegate.substitute = { $0 as? Link === parent ? Link(other: child) : $0 }
        let archiver = KeyedArchiver()
        if byDelegate { archiver.delegate = delegate }
        archiver.encode(parent, forKey: "root")
        let data = try archiver.encodedData
        let calls = [
            "will Link", "replacing Link by Link", "will Link", "did Link", "did Link", "finishing", "finished",
        ]
        #expect(delegate.log == (byDelegate ? calls : []))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Link.self])
        let proxy = try #require(unarchiver.decodeObject(forKey: "root") as? Link)
        let back = try #require(proxy.other as? Link)
        defer { back.other = nil }
        #expect(back !== proxy && back.other === proxy)
        #expect(unarchiver.error == nil)
    }

    @Test func aReplacementOfWhatItsPartsReferToIsAnError() throws {
        let vertex = Vertex("a", 1)
        vertex.next = vertex
        defer { vertex.clear() }
        let data = try KeyedArchiver.archivedData(withRootObject: vertex)
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Vertex.self])
        let delegate = Reader()
        delegate.substitute = { $0 is Vertex ? Vertex("b", 2) : $0 }
        unarchiver.delegate = delegate
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        #expect((unarchiver.error as? ArchiveError)?.code == .cyclicReference)
    }
}

private final class Recorder: KeyedArchiverDelegate {
    var log: [String] = []
    var substitute: (Any) -> Any? = { $0 }

    func archiver(_ archiver: KeyedArchiver, willEncode object: Any) -> Any? {
        log.append("will \(type(of: object))")
        return substitute(object)
    }
    func archiver(_ archiver: KeyedArchiver, didEncode object: Any?) {
        log.append("did \(object.map { "\(type(of: $0))" } ?? "nil")")
    }
    func archiver(_ archiver: KeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {
        log.append(
            "replacing \(object.map { "\(type(of: $0))" } ?? "nil") by \(newObject.map { "\(type(of: $0))" } ?? "nil")"
        )
    }
    func archiverWillFinish(_ archiver: KeyedArchiver) { log.append("finishing") }
    func archiverDidFinish(_ archiver: KeyedArchiver) { log.append("finished") }
}

private final class Reader: KeyedUnarchiverDelegate {
    var log: [String] = []
    var substitute: (Any?) -> Any? = { $0 }
    var cls: AnyClass?

    func unarchiver(
        _ unarchiver: KeyedUnarchiver,
        cannotDecodeObjectOfClassName name: String,
        originalClasses classNames: [String]
    ) -> AnyClass? {
        log.append("what is \(name) \(classNames)")
        return cls
    }
    func unarchiver(_ unarchiver: KeyedUnarchiver, didDecode object: Any?) -> Any? {
        log.append("did \(object.map { "\(type(of: $0))" } ?? "nil")")
        return substitute(object)
    }
    func unarchiver(_ unarchiver: KeyedUnarchiver, willReplace object: Any, with newObject: Any) {
        log.append("replacing \(type(of: object))")
    }
    func unarchiverWillFinish(_ unarchiver: KeyedUnarchiver) { log.append("finishing") }
    func unarchiverDidFinish(_ unarchiver: KeyedUnarchiver) { log.append("finished") }
}

private final class Replaced: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) { Issue.record("this object is never archived") }
    override func replacementObject(for coder: NSCoder) -> Any? { Base(title: "in its place") }
}

final class Restless: Base {
    override func replacementObject(for coder: NSCoder) -> Any? { Restless(title: title + "+") }
}

final class Link: NSObject, NSCoding {
    var other: NSObject?
    private let isReplaced: Bool
    init(other: NSObject? = nil, isReplaced: Bool = false) {
        self.other = other
        self.isReplaced = isReplaced
    }
    required init?(coder: NSCoder) {
        other = coder.decodeObject(forKey: "other") as? NSObject
        isReplaced = false
    }
    func encode(with coder: NSCoder) { coder.encode(other, forKey: "other") }
    override func replacementObject(for coder: NSCoder) -> Any? { isReplaced ? Link(other: other) : self }
}

private final class Disguised: Base {
    override var classForKeyedArchiver: AnyClass? { Base.self }
}

private final class Couple: NSObject, NSCoding {
    let first: NSObject?
    let second: NSObject?
    init(_ first: NSObject?, _ second: NSObject?) {
        self.first = first
        self.second = second
    }
    required init?(coder: NSCoder) {
        first = coder.decodeObject(forKey: "first") as? NSObject
        second = coder.decodeObject(forKey: "second") as? NSObject
    }
    func encode(with coder: NSCoder) {
        coder.encode(first, forKey: "first")
        coder.encode(second, forKey: "second")
    }
}
