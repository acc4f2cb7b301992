import Foundation
import KeyedArchive
import SequentialArchive
import TestSupport
import Testing

/// Archives that lie about themselves, for both readers: an error, soon, and little memory.
@Suite struct HostileTests {
    private static let header: [UInt8] = [4, 11] + Array("streamtyped".utf8) + [0x81, 0xE8, 0x03]

    /// The errors of the tree and of the unarchiver.
    private func codes(
        _ bytes: [UInt8],
        limits: ArchiveLimits = ArchiveLimits()
    ) -> (tree: ArchiveError.Code?, object: ArchiveError.Code?) {
        var tree: ArchiveError.Code?
        var object: ArchiveError.Code?
        let data = Data(Self.header + bytes)
        do throws(ArchiveError) {
            _ = try TypedStream(data, limits: limits)
        } catch {
            tree = error.code
            #expect(error.code == .limitExceeded || error.offset != nil, "\(error)")
        }
        do throws(ArchiveError) {
            let unarchiver = try SequentialUnarchiver(
                forReadingWith: data,
                classes: [NSObject.self],
                limits: limits
            )
            while !unarchiver.isAtEnd, unarchiver.error == nil { _ = unarchiver.decodeObject() }
            try unarchiver.finishDecoding()
        } catch {
            object = error.code
        }
        return (tree, object)
    }

    private func new(_ text: String) -> [UInt8] { [0x84, UInt8(text.utf8.count)] + Array(text.utf8) }

    /// An object of a class of Foundation's that is written for the first time.
    private func object(_ name: String, version: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
        new("@") + [0x84, 0x84] + new(name) + [version, 0x84] + new("NSObject") + [0, 0x85] + content + [0x86]
    }

    @Test func countsBeyondTheBytesAreRefused() {
        let data = object("NSData", new("i") + [0x82, 0xFF, 0xFF, 0xFF, 0x7F])
        #expect(codes(data).object == .missingValue)
        for name in ["NSArray", "NSMutableArray", "NSSet", "NSDictionary"] {
            let found = codes(object(name, new("i") + [0x82, 0xFF, 0xFF, 0xFF, 0x7F])).object
            #expect(found == .corrupted, "\(name)")
            #expect(codes(object(name, new("i") + [0xFF])).object == .corrupted, "\(name), -1 members")
        }
        #expect(codes(object("NSString", version: 1, new("+") + [0x81, 0xFF, 0x7F])) == (.corrupted, .corrupted))
        #expect(codes([0x84, 0x82, 0xFF, 0xFF, 0xFF, 0xFF]) == (.corrupted, .corrupted))
        #expect(codes(object("NSData", new("i") + [3] + new("[3c]") + [1, 2])).tree == .corrupted)
    }

    /// References are integers less 110, of which the highest ones leave no room for that.
    @Test func referencesBeyondAllNumbersAreRefused() {
        let integers: [[UInt8]] = [
            [0x87, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x87, 0, 0, 0, 0, 0, 0, 0, 0x80],
            [0x87, 0x92, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x81, 0x91, 0xFF],
        ]
        for integer in integers {
            #expect(codes(integer + [0, 0]) == (.corrupted, .corrupted), "of a type: \(integer)")
            #expect(codes(new("@") + integer) == (.corrupted, .corrupted), "of an object: \(integer)")
            #expect(codes(new("@") + [0x84] + integer) == (.corrupted, .corrupted), "of a class: \(integer)")
        }
    }

    @Test func bytesBeyondTheLimitAreNotLookedAt() {
        let bytes = object("NSString", version: 1, new("+") + [1, 0x61])
        #expect(codes(bytes) == (nil, nil))
        let found = codes(bytes, limits: ArchiveLimits(byteCount: 20))
        #expect(found == (.limitExceeded, .limitExceeded))
    }

    @Test func objectsNestOnlySoDeep() {
        var bytes = new("@") + [0x84, 0x84] + new("NSArray") + [0, 0x85] + new("i") + [1, 0x92]
        for _ in 0..<5_000 { bytes += [0x84, 0x93, 0x94, 1, 0x92] }
        let found = codes(bytes)
        #expect(found.tree == .limitExceeded)
        #expect(found.object == .limitExceeded)
    }

    @Test func skippedObjectsNestOnlySoDeep() {
        // NSObject decodes nothing, so all that is inside of it is passed over.
        var bytes = new("@") + [0x84, 0x84] + new("NSNull") + [0, 0x85, 0x92]
        for _ in 0..<5_000 { bytes += [0x84, 0x93, 0x92] }
        #expect(codes(bytes) == (.limitExceeded, .limitExceeded))
    }

    @Test func aChainOfClassesHasAnEnd() throws {
        var chain = new("#")
        for number in 0..<5_000 { chain += [0x84] + (number == 0 ? new("A") : [0x93]) + [0] }
        #expect(codes(chain + [0x85]).tree == .limitExceeded)
        // Each class above the next one: `#` again and again.
        var single = new("#") + [0x84] + new("A") + [0, 0x85]
        for number in 0..<5_000 {
            let reference = number - 110
            single += [0x92, 0x84, 0x93, 0]
            single +=
                reference <= 127
                ? [UInt8(truncatingIfNeeded: reference)]
                : [0x82] + (0..<4).map { UInt8(truncatingIfNeeded: reference >> ($0 * 8)) }
        }
        #expect(codes(single).tree == .limitExceeded)
        let unarchiver = try SequentialUnarchiver(
            forReadingWith: Data(Self.header + single),
            classes: [NSObject.self]
        )
        unarchiver.decodeClassName("A", asClassName: "NSObject")
        var cls: AnyClass?
        while !unarchiver.isAtEnd, unarchiver.error == nil { unarchiver.decodeValue(ofObjCType: "#", at: &cls) }
        #expect((unarchiver.error as? ArchiveError)?.code == .limitExceeded)
    }

    @Test func valuesWithoutBytesAreCounted() {
        // A type of 2^14 values that take no bytes, as often as there are bytes.
        let types = String(repeating: "!", count: 1 << 14)
        var bytes: [UInt8] = [0x84, 0x81, 0x00, 0x40] + Array(types.utf8)
        bytes += [UInt8](repeating: 0x92, count: 1 << 14)
        #expect(codes(bytes).tree == .limitExceeded)
    }

    @Test func typesThatCannotBeReadAreRefused() {
        for type in [
            "[", "[3", "[3i", "{", "{=", "{=i", "{a=\"b", "(a=i)", "b3", "^i", "?", "[-1i]", "[i]", "]", "}",
        ] {
            let found = codes(new(type) + [1])
            #expect(found.tree != nil, "\(type)")
            #expect(found.object != nil, "\(type)")
        }
        #expect(codes([0x85]) == (.corrupted, .corrupted))
        #expect(codes([0x84, 0]) == (.corrupted, .corrupted))
    }

    @Test func wrongReferencesAreRefused() {
        #expect(codes([0x92]) == (.corrupted, .corrupted))
        #expect(codes(new("@") + [0x92]) == (.corrupted, .corrupted))
        // An object of a class that is an object, and one without a class.
        #expect(codes(new("@") + [0x84, 0x92, 0x86]) == (.corrupted, .corrupted))
        #expect(codes(new("@") + [0x84, 0x85, 0x86]) == (.corrupted, .corrupted))
        // A class that is used as an object.
        #expect(codes(object("NSNull", []) + [0x92, 0x93]) == (.corrupted, .corrupted))
    }

    @Test func anArrayOfItselfOrWithNilIsRefused() {
        #expect(codes(object("NSArray", new("i") + [1, 0x92, 0x92])).object == .cyclicReference)
        #expect(codes(object("NSArray", new("i") + [1, 0x92, 0x85])).object == .corrupted)
        #expect(codes(object("NSURL", new("c") + [1, 0x92, 0x92, 0x92, 0x92])).object == .cyclicReference)
    }

    @Test func aClassThatIsNotHereIsNamedAndTheTreeKeepsIt() throws {
        let bytes = object("NSColor", new("c") + [1])
        #expect(codes(bytes) == (nil, .classNotAllowed))
        let data = Data(Self.header + bytes)
        do throws(ArchiveError) {
            _ = try SequentialUnarchiver.unarchiveObject(with: data, allowing: [NSObject.self])
            Issue.record("an object of a class that is not here")
        } catch {
            #expect(error.message.contains("NSColor"))
            #expect(error.offset == 19)
        }
        #expect(try TypedStream(data).data() == data)
    }

    @Test(arguments: [0, 2] as [UInt8]) func anotherVersionOfAClassIsRefused(version: UInt8) {
        #expect(codes(object("NSString", version: version, new("+") + [1, 0x61])).object == .unsupportedFormat)
    }

    @Test func oldPropertyListsAreChecked() throws {
        for list: [UInt8] in [
            [], [2, 0, 0, 0], [2, 0, 0, 0, 255, 255, 255, 255], [6, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0xFE, 0x41, 0],
            [6, 0, 0, 0, 4, 0, 0, 0, 0xFF, 0xFE, 0x00, 0xD8], [9, 0, 0, 0], [8, 0, 0, 0, 0],
            [7, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0], [4, 0, 0, 0, 255, 255, 255, 127],
            [2, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0],
        ] {
            let archiver = SequentialArchiver()
            archiver.encode(Data(list))
            let unarchiver = try SequentialUnarchiver(forReadingWith: archiver.encodedData)
            #expect(unarchiver.decodePropertyList() == nil)
            #expect((unarchiver.error as? ArchiveError)?.code == .corrupted, "\(list)")
        }
        var deep: [UInt8] = []
        for level in 0..<500 {
            deep += [2, 0, 0, 0, 1, 0, 0, 0]
            let rest = UInt32((500 - level) * 12)
            deep += (0..<4).map { UInt8(truncatingIfNeeded: rest >> ($0 * 8)) }
        }
        let archiver = SequentialArchiver()
        archiver.encode(Data(deep))
        let unarchiver = try SequentialUnarchiver(forReadingWith: archiver.encodedData)
        #expect(unarchiver.decodePropertyList() == nil)
        #expect((unarchiver.error as? ArchiveError)?.code == .limitExceeded)
    }

    /// Bytes of samples that are changed at random, by bytes that mean something in these archives.
    @Test(arguments: seeds(0..<50)) func changedArchivesGiveATreeOrAnError(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let tags: [UInt8] = [0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x92, 0x93, 0x94, 0, 1, 0x7F, 0xFF]
        let data = try Samples.everyKind.data()
        for _ in 0..<50 {
            var bytes = Array(data)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 13..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = tags.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(tags.randomElement(using: &random) ?? 0, at: place)
                }
            }
            if let stream = try? TypedStream(Data(bytes)) {
                #expect(try TypedStream(stream.data()) == stream, "seed \(seed): \(bytes)")
            }
            _ = codes(Array(bytes.dropFirst(Self.header.count)))
        }
    }
}
