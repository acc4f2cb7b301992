import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Archives that were changed at random are refused or read, but never trap, hang or take memory without bound.
@Suite struct MutationTests {
    /// How many changed archives each seed tries; `TYPED_CACHE_MUTATIONS` makes it more.
    private static let mutationCount =
        ProcessInfo.processInfo.environment["TYPED_CACHE_MUTATIONS"].flatMap { Int($0) } ?? rounds(400, short: 40)

    private static func samples() throws -> [[UInt8]] {
        let base = Base(title: "shared")
        var samples = try [
            KeyedArchiver.archivedData(withRootObject: Everything()),
            KeyedArchiver.archivedData(withRootObject: Pair(base, base)),
            KeyedArchiver.archivedData(encoding: Samples.city),
            KeyedArchiver.archivedData(encoding: [Shape.named("x", sides: 3), .circle(radius: 1), .nothing]),
            KeyedArchiver.archivedData(encoding: ["a": [1, 2, 3], "b": []]),
            KeyedArchiver.archivedData(withRootObject: [NSMutableArray(array: [1]), NSMutableDictionary()]),
        ].map { [UInt8]($0) }
        for sample in FormSample.all {
            let bytes = [UInt8](try KeyedArchiver.archivedData(withRootObject: sample.make()))
            if bytes.count < 8_192 { samples.append(bytes) }
        }
        for sample in samples { samples.append([UInt8](try KeyedArchiver.convert(Data(sample), to: .xml))) }
        guard Corpus.folder != nil else { return samples }
        for file in try Corpus.files(in: "keyed") + Corpus.files(in: "plist") {
            let bytes = [UInt8](try Data(contentsOf: file))
            if bytes.count < 8_192 { samples.append(bytes) }
        }
        return samples
    }

    @Test(arguments: seeds(1..<9)) func changedArchivesAreRefusedOrRead(seed: Int) throws {
        let samples = try Self.samples()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Self.mutationCount {
            guard var bytes = samples.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.change(&bytes, &random) }
            Self.read(bytes)
            Self.convert(bytes)
            Self.rewrite(bytes)
        }
    }

    /// Of several faults, each way of reading finds the same one first, also in objects with many keys.
    @Test func theFirstOfSeveralFaultsIsTold() throws {
        let set = NSOrderedSet(array: (0..<100).map { "element \($0)" })
        let archive = [UInt8](try KeyedArchiver.archivedData(withRootObject: set))
        let markers = ["NS.object.15", "NS.object.20", "NS.object.70"].compactMap { key in
            archive.firstRange(of: Array(key.utf8)).map { $0.lowerBound - 1 }
        }
        #expect(markers.count == 3)
        for _ in 0..<20 {
            var bytes = archive
            for marker in markers { bytes[marker] = UInt8.random(in: 0x70...0x7F) }
            Self.read(bytes)
        }
    }

    /// Each byte of small archives, changed in many ways: the check finds the fault that the tree finds, or none.
    @Test(arguments: [["name": "Lavāsān", "zone": "Africa/Mogadishu"], ["𝛼": "$null", "b": "β"]])
    func everyChangeOfAByteIsJudgedAsByTheTree(fields: [String: String]) throws {
        let archives = try [
            KeyedArchiver.archivedData(encoding: fields), KeyedArchiver.archivedData(encoding: Samples.city),
        ]
        for archive in archives.map({ [UInt8]($0) }) {
            for (at, byte) in archive.enumerated() {
                var bytes = archive
                for value in stride(from: UInt8.min, through: .max, by: isLongRun ? 1 : 37) {
                    bytes[at] = byte ^ value
                    let tree = Result { () throws(ArchiveError) in _ = try ArchiveTree(bytes) }
                    let check = Result { () throws(ArchiveError) in try ArchiveTree.check(bytes) }
                    #expect("\(tree)" == "\(check)", "\(Data(bytes).base64EncodedString())")
                }
            }
        }
    }

    /// A list that can be written as XML can be read back, and is the same then.
    private static func convert(_ bytes: [UInt8]) {
        guard let xml = try? KeyedArchiver.convert(Data(bytes), to: .xml) else { return }
        let back = try? KeyedArchiver.convert(xml, to: .binary)
        // Of a key that is there twice the last one is kept, so that only the second time nothing changes.
        let again = back.flatMap { try? KeyedArchiver.convert($0, to: .xml) }
        let third = again.flatMap { try? KeyedArchiver.convert($0, to: .xml) }
        #expect(back != nil && again != nil && third == again, "\(Data(bytes).base64EncodedString())")
    }

    /// An archive that opens as a tree is rewritten, and opens as the same tree.
    private static func rewrite(_ bytes: [UInt8]) {
        guard let tree = try? ArchiveTree(bytes) else { return }
        let again = try? ArchiveTree(tree.archivedData())
        #expect(again == tree, "\(Data(bytes).base64EncodedString())")
        #expect(tree.isSameGraph(as: tree) && tree.description.utf8.count < 1 << 24)
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        case 3: bytes.remove(at: at)
        case 4:
            // Numbers that counts, offsets and widths are wrong with most often.
            bytes[at] = [0x00, 0x01, 0x0F, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        default:
            // A part of the archive in another place: references, markers and counts that are sound elsewhere.
            let from = Int.random(in: 0..<bytes.count, using: &random)
            let count = min(Int.random(in: 1...8, using: &random), bytes.count - max(at, from))
            for step in 0..<max(0, count) { bytes[at + step] = bytes[from + step] }
        }
    }

    private static func read(_ bytes: [UInt8]) {
        let tree = Result { () throws(ArchiveError) in try ArchiveTree(bytes) }
        let shared = Result { () throws(ArchiveError) in try ArchiveTree(sharing: Data(bytes)) }
        let checked = Result { () throws(ArchiveError) in try ArchiveTree.check(bytes) }
        switch tree {
        case .success(let tree):
            #expect((try? shared.get()) == tree, "\(Data(bytes).base64EncodedString())")
            #expect(throws: Never.self, "\(Data(bytes).base64EncodedString())") { try checked.get() }
            #expect(throws: Never.self) {
                try ArchiveTree.check(beginning: bytes.prefix(1 + bytes.count % 9))
            }
        case .failure(let error):
            for result in [shared.map { _ in }, checked] {
                #expect(throws: ArchiveError.self) { try result.get() }
                guard case .failure(let other) = result else { continue }
                #expect("\(other)" == "\(error)", "\(Data(bytes).base64EncodedString())")
            }
        }
        _ = try? KeyedUnarchiver.unarchive(City.self, decoding: bytes)
        _ = try? KeyedUnarchiver.unarchive([Shape].self, decoding: bytes)
        _ = try? KeyedUnarchiver.unarchive([String: [Int]].self, decoding: bytes)
        if let unarchiver = try? KeyedUnarchiver(bytes, classes: []) {
            unarchiver.keepsUnknownClasses = true
            if let root = unarchiver.decodeObject(forKey: "root") {
                _ = try? KeyedArchiver.archivedData(withRootObject: root)
            }
        }
        if let unarchiver = try? KeyedUnarchiver(bytes, classes: [Everything.self, Pair.self, Base.self]) {
            for key in ["root", "$0", "State"] {
                // An object that was decoded must survive its use.
                if let object = unarchiver.decodeObject(forKey: key) {
                    _ = try? KeyedArchiver.archivedData(withRootObject: object)
                }
                _ = unarchiver.decodeDouble(forKey: key)
                _ = unarchiver.containsValue(forKey: key)
            }
        }
    }
}

extension KeyedUnarchiver {
    fileprivate static func unarchive<T: Decodable>(_ type: T.Type, decoding bytes: [UInt8]) throws -> T {
        try unarchive(decoding: type, from: bytes)
    }
}
