import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Archivers and unarchivers reuse memory: none may see the content of an earlier one.
@Suite struct ReuseTests {
    @Test func archivesInsideArchivesComeBack() throws {
        let nested = Nest(depth: 12, number: 1)
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Nest.self,
            from: KeyedArchiver.archivedData(withRootObject: nested)
        )
        #expect(back.numbers == nested.numbers)
    }

    @Test func aCoderThatIsKeptCanStillBeAsked() throws {
        let first = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Keeper.self,
            from: KeyedArchiver.archivedData(withRootObject: Keeper(text: "first"))
        )
        for number in 0..<20 {
            let other = Keeper(text: "number \(number)")
            _ = try KeyedUnarchiver.unarchivedRoot(
                ofClass: Keeper.self,
                from: KeyedArchiver.archivedData(withRootObject: other)
            )
        }
        let root = first.coder?.decodeObject(forKey: "root") as? Keeper
        #expect(root?.text == "first")
    }

    @Test func objectsAreLetGoAfterwards() throws {
        weak var archived: Base?
        weak var decoded: Base?
        do {
            let base = Base(title: "x")
            archived = base
            let data = try KeyedArchiver.archivedData(withRootObject: base)
            decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: Base.self, from: data)
        }
        #expect(archived == nil)
        #expect(decoded == nil)
    }

    @Test func classesThatWereExpectedBeforeAreNotExpectedNow() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Pair(Base(title: "x"), nil))
        for _ in 0..<3 {
            let pair = try KeyedUnarchiver.unarchivedRoot(ofClass: Pair.self, allowing: [Base.self], from: data)
            #expect(pair.first != nil)
            let error = #expect(throws: ArchiveError.self) {
                try KeyedUnarchiver.unarchivedRoot(ofClass: Pair.self, from: data)
            }
            #expect(error?.code == .classNotAllowed)
        }
    }

    /// Archives of all sizes in turns, in several threads at once: small ones share memory, large ones do not.
    @Test func archivesOfAllSizesComeBackInManyThreads() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<rounds(30, short: 6) {
                        let count = [1, 7, 16, 17, 400, isLongRun ? 60_000 : 9_000][(task + round) % 6]
                        let texts = (0..<count).map { "\(task) \(round) \($0) \($0 % 3 == 0 ? "ü" : "u")" }
                        let data = try KeyedArchiver.archivedData(withRootObject: texts)
                        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: [String].self, from: data) == texts)
                        #expect(
                            try KeyedUnarchiver.unarchivedValue(
                                of: [String].self,
                                from: KeyedArchiver.archivedData(encoding: texts)
                            ) == texts
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Names are kept in a writer from archive to archive, as keys or as names of classes.
    @Test("A writer that is used again writes the same bytes as a new one", arguments: seeds(0..<200))
    func writersUsedAgain(seed: Int) {
        let used = ArchiveWriter()
        var random = SeededGenerator(seed: seed)
        for round in 0..<30 {
            let script = WriterScript(&random)
            let fresh = ArchiveWriter()
            script.run(on: fresh)
            script.run(on: used)
            let (bytes, expected) = (used.finishedBytes(), fresh.finishedBytes())
            #expect(bytes == expected, "seed \(seed), round \(round)")
            used.reset()
        }
    }

    /// A large archive is given away with the memory in which it was written.
    @Test func largeArchivesCanBeChangedByWhoeverHasThem() throws {
        let text = String(repeating: "long ", count: 1_000_000)
        var data = try KeyedArchiver.archivedData(withRootObject: text)
        let copy = data
        data.append(contentsOf: [1, 2, 3])
        data[0] = 0
        #expect(data.count == copy.count + 3)
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: String.self, from: copy) == text)
    }
}

/// Calls of a writer: objects with keys and texts, which share their texts with each other and with names of classes.
private struct WriterScript {
    private let objects: [(texts: [String], cls: ArchivedClass?)]

    init(_ random: inout SeededGenerator) {
        // Some scripts have more names than a writer keeps.
        let kinds = Int.random(in: 0..<8, using: &random) == 0 ? 2_000 : Int.random(in: 2..<40, using: &random)
        func text() -> String {
            let number = Int.random(in: 0..<kinds, using: &random)
            return switch number % 7 {
            case 0: "ü\(number)"
            case 1: String(repeating: "long \(number) ", count: 12)
            case 2: "$\(number)"
            case 3: ["$class", "$null", "root", "NSObject", "NSKeyedArchiver"][number % 5]
            default: "name \(number)"
            }
        }
        objects = (0..<Int.random(in: 1..<8, using: &random)).map { _ in
            let texts = (0..<Int.random(in: 0..<(kinds > 40 ? 1_000 : 6), using: &random)).map { _ in text() }
            return (texts, Bool.random(using: &random) ? ArchivedClass(name: text()) : nil)
        }
    }

    func run(on writer: ArchiveWriter) {
        for (texts, cls) in objects {
            let uid = writer.reserveObject()
            writer.pushScope()
            for (position, text) in texts.enumerated() {
                let other = texts[texts.count - 1 - position]
                switch position % 4 {
                case 0: writer.set(text, writer.reference(to: writer.stringObject(other, as: .value)))
                case 1: writer.set(text, writer.string(texts[texts.count / 2]))
                case 2: writer.set(text, writer.reference(to: 0))
                default: writer.setUnkeyed(writer.string(text))
                }
            }
            if let cls { writer.popObject(uid, class: cls) } else { writer.popDictionary(uid) }
        }
    }
}

/// Holds another one as an archive of its own, which it makes and reads while it is encoded and decoded itself.
private final class Nest: NSObject, NSCoding {
    let number: Int
    let inner: Nest?

    init(depth: Int, number: Int) {
        self.number = number
        inner = depth > 0 ? Nest(depth: depth - 1, number: number * 3) : nil
    }

    var numbers: [Int] { [number] + (inner?.numbers ?? []) }

    func encode(with coder: NSCoder) {
        coder.encode(number, forKey: "number")
        coder.encode(inner.flatMap { try? KeyedArchiver.archivedData(withRootObject: $0) }, forKey: "inner")
        coder.encode(-number, forKey: "check")
    }

    required init?(coder: NSCoder) {
        inner = (coder.decodeObject(forKey: "inner") as? Data).flatMap {
            try? KeyedUnarchiver.unarchivedRoot(ofClass: Nest.self, from: $0)
        }
        number = coder.decodeInteger(forKey: "number")
        guard coder.decodeInteger(forKey: "check") == -number else { return nil }
    }
}

/// Keeps its coder.
private final class Keeper: NSObject, NSCoding {
    let text: String
    let coder: NSCoder?

    init(text: String) {
        self.text = text
        coder = nil
    }

    func encode(with coder: NSCoder) { coder.encode(text, forKey: "text") }

    required init?(coder: NSCoder) {
        text = coder.decodeObject(forKey: "text") as? String ?? ""
        self.coder = coder
    }
}
