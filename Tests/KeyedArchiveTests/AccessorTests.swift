import Foundation
import Testing

@testable import KeyedArchive

@Suite struct AccessorTests {
    private func unarchiver(
        _ classes: [AnyClass] = [],
        limits: ArchiveLimits = ArchiveLimits(),
        _ body: (KeyedArchiver) -> Void
    ) throws -> KeyedUnarchiver {
        let archiver = KeyedArchiver()
        body(archiver)
        return try KeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: classes, limits: limits)
    }

    // MARK: Accessors that throw

    @Test func typedValuesComeBackInEveryTypeThatHoldsThem() throws {
        let coder = try unarchiver([Base.self]) {
            $0.encode(300, forKey: "int")
            $0.encode(2.0, forKey: "whole")
            $0.encode("text", forKey: "text")
            $0.encode([1, 2], forKey: "list")
            $0.encode(Base(title: "t"), forKey: "base")
            $0.encode([Base(title: "a")], forKey: "bases")
            $0.encode(nil as Any?, forKey: "nil")
            $0.encode(Date(timeIntervalSinceReferenceDate: 5), forKey: "date")
        }
        #expect(try coder.decode(Int32.self, forKey: "int") == 300)
        #expect(try coder.decode(UInt64.self, forKey: "int") == 300)
        #expect(try coder.decode(Double.self, forKey: "int") == 300)
        #expect(try coder.decode(Int.self, forKey: "whole") == 2)
        #expect(try coder.decode(String.self, forKey: "text") == "text")
        #expect(try coder.decode([Int].self, forKey: "list") == [1, 2])
        #expect(try coder.decode(Base.self, forKey: "base").title == "t")
        #expect(try coder.decode([Base].self, forKey: "bases").map(\.title) == ["a"])
        #expect(try coder.decode(Date.self, forKey: "date") == Date(timeIntervalSinceReferenceDate: 5))
        #expect(try coder.decodeIfPresent(String.self, forKey: "nil") == nil)
        #expect(try coder.decodeIfPresent(String.self, forKey: "absent") == nil)
        #expect(code { _ = try coder.decode(Int8.self, forKey: "int") } == .outOfRange)
        #expect(code { _ = try coder.decode(Int.self, forKey: "text") } == .typeMismatch)
        #expect(code { _ = try coder.decode(Point.self, forKey: "base") } == .typeMismatch)
        #expect(code { _ = try coder.decode(String.self, forKey: "nil") } == .missingValue)
        #expect(code { _ = try coder.decode(String.self, forKey: "absent") } == .missingValue)
        // None of that is an error of the archive.
        try coder.finishDecoding()
    }

    @Test func theReasonWhyAnInitializerRefusedIsThrownAtTheRoot() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("KeyedArchiveTests.Demanding", for: Point.self)
        archiver.encode([Point(x: 1, y: 2)], forKey: "root")
        let data = try archiver.encodedData
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedRoot(ofClass: [Demanding].self, allowing: [Demanding.self], from: data)
        }
        #expect(error?.code == .missingValue)
        #expect(error?.keyPath == ["root", "name"])
    }

    // MARK: Coercion, with both types named

    @Test func numbersOfTheWrongKindNameBothTypesPlaceAndWay() throws {
        func coder() throws -> KeyedUnarchiver {
            try unarchiver {
                $0.encode(1 << 40, forKey: "big")
                $0.encode("text", forKey: "text")
                $0.encode(1.5, forKey: "half")
                $0.encode(300, forKey: "many")
                $0.encode(1e300, forKey: "huge")
                $0.encode(true, forKey: "flag")
            }
        }
        func error(_ read: (KeyedUnarchiver) -> Void) throws -> ArchiveError {
            let fresh = try coder()
            read(fresh)
            return try #require(fresh.error as? ArchiveError)
        }
        let wide = try error { #expect($0.decodeInt32(forKey: "big") == 0) }
        #expect(wide.code == .outOfRange)
        #expect(wide.message == "an integer that does not fit Int32")
        #expect(wide.keyPath == ["big"])
        #expect(try #require(wide.offset) > 8)
        let text = try error { #expect($0.decodeDouble(forKey: "text") == 0) }
        #expect(text.code == .typeMismatch)
        #expect(text.message == "a string, where Double is expected")
        #expect(try error { _ = $0.decodeInteger(forKey: "half") }.code == .outOfRange)
        #expect(try error { _ = $0.decodeBool(forKey: "many") }.code == .outOfRange)
        #expect(try error { _ = $0.decodeFloat(forKey: "huge") }.message == "a real number that does not fit Float")
        #expect(try error { _ = $0.decodeDouble(forKey: "flag") }.code == .outOfRange)
        let coder = try coder()
        #expect(coder.decodeInteger(forKey: "flag") == 1)
        #expect(coder.decodeDouble(forKey: "many") == 300)
        #expect(coder.decodeInteger(forKey: "absent") == 0)
        #expect(coder.error == nil)
    }

    // MARK: Codable values inside NSCoding classes

    @Test func codableValuesTravelInsideObjects() throws {
        let coder = try unarchiver {
            try? $0.encodeEncodable(Samples.city, forKey: "city")
            try? $0.encodeEncodable(Shape.named("x", sides: 3), forKey: "shape")
            try? $0.encodeEncodable([1: "a"], forKey: "table")
        }
        #expect(coder.decodeDecodable(City.self, forKey: "city") == Samples.city)
        #expect(try coder.decode(Shape.self, forKey: "shape") == .named("x", sides: 3))
        #expect(try coder.decodeTopLevelDecodable([Int: String].self, forKey: "table") == [1: "a"])
        #expect(coder.decodeDecodable(City.self, forKey: "absent") == nil)
        #expect(coder.error == nil)
        #expect(coder.decodeDecodable(Mayor.self, forKey: "shape") == nil)
        #expect((coder.error as? ArchiveError)?.keyPath.first == "shape")
    }

    // MARK: Versions

    @Test func oldAndNewVersionsReadEachOther() throws {
        let old = KeyedArchiver()
        old.setClassName("KeyedArchiveTests.Distance", for: OldDistance.self)
        old.encode(OldDistance(kilometers: 2), forKey: "root")
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Distance.self, from: old.encodedData).meters == 2_000)
        let new = try KeyedArchiver.archivedData(withRootObject: Distance(meters: 5))
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Distance.self, from: new).meters == 5)
    }

    // MARK: Values by C type

    @Test func valuesByTypeComeBack() throws {
        let coder = try unarchiver {
            var number: Int32 = -7
            $0.encodeValue(ofObjCType: "i", at: &number)
            var real = 2.5
            $0.encodeValue(ofObjCType: "d", at: &real)
            var shorts: [Int16] = [1, -2, 3]
            $0.encodeArray(ofObjCType: "s", count: 3, at: &shorts)
            $0.encodeValue(ofObjCType: "[3s]", at: &shorts)
            let object = Base(title: "t")
            withUnsafePointer(to: object as AnyObject?) { [archiver = $0] in
                archiver.encodeValue(ofObjCType: "@", at: $0)
            }
        }
        coder.allowsAnyClass = true
        var number: Int32 = 0
        coder.decodeValue(ofObjCType: "i", at: &number)
        #expect(number == -7)
        var real = 0.0
        coder.decodeValue(ofObjCType: "d", at: &real)
        #expect(real == 2.5)
        var shorts = [Int16](repeating: 0, count: 3)
        coder.decodeArray(ofObjCType: "s", count: 3, at: &shorts)
        #expect(shorts == [1, -2, 3])
        shorts = [0, 0, 0]
        coder.decodeValue(ofObjCType: "[3s]", at: &shorts)
        #expect(shorts == [1, -2, 3])
        var object: Unmanaged<AnyObject>?
        coder.decodeValue(ofObjCType: "@", at: &object)
        #expect((object?.takeRetainedValue() as? Base)?.title == "t")
        try coder.finishDecoding()
    }

    @Test func valuesOfAnotherTypeOrLengthAreErrors() throws {
        func error(_ read: (KeyedUnarchiver) -> Void) throws -> ArchiveError.Code? {
            let coder = try unarchiver {
                var shorts: [Int16] = [1, 300, 3]
                $0.encodeArray(ofObjCType: "s", count: 3, at: &shorts)
            }
            read(coder)
            return (coder.error as? ArchiveError)?.code
        }
        var wide = [Int64](repeating: 0, count: 4)
        #expect(try error { $0.decodeArray(ofObjCType: "q", count: 3, at: &wide) } == nil)
        #expect(wide == [1, 300, 3, 0])
        #expect(try error { $0.decodeArray(ofObjCType: "q", count: 4, at: &wide) } == .typeMismatch)
        #expect(try error { $0.decodeArray(ofObjCType: "c", count: 3, at: &wide) } == .outOfRange)
        #expect(try error { $0.decodeValue(ofObjCType: "d", at: &wide) } == .typeMismatch)
        #expect(try error { $0.decodeValue(ofObjCType: "{P=dd}", at: &wide) } == .unsupportedType)
    }

    // MARK: Limits

    @Test func limitsAreCheckedBeforeAnythingIsDecoded() throws {
        func write(_ archiver: KeyedArchiver) {
            archiver.encode(Chain.make(40), forKey: "deep")
            archiver.encode((0..<100).map { "text \($0)" }, forKey: "wide")
            archiver.encode(String(repeating: "x", count: 100), forKey: "long")
        }
        func error(_ limits: ArchiveLimits, _ key: String) -> ArchiveError.Code? {
            code {
                let coder = try unarchiver([Node.self], limits: limits, write)
                _ = coder.decodeObject(forKey: key)
                try coder.finishDecoding()
            }
        }
        let none = ArchiveLimits(
            byteCount: .max,
            objectCount: .max,
            depth: .max,
            referencesPerByte: .max,
            decodedBytesPerByte: .max
        )
        #expect(error(none, "deep") == nil)
        #expect(error(none, "wide") == nil)
        #expect(error(ArchiveLimits(), "deep") == nil)
        #expect(error(ArchiveLimits(), "wide") == nil)
        #expect(error(ArchiveLimits(byteCount: 100), "wide") == .limitExceeded)
        #expect(error(ArchiveLimits(objectCount: 10), "wide") == .limitExceeded)
        #expect(error(ArchiveLimits(depth: 20), "deep") == .limitExceeded)
        #expect(error(ArchiveLimits(depth: 20), "wide") == nil)
    }

    @Test func whatIsReferredToOverAndOverIsLimited() throws {
        // Ten arrays of 2,000 references each, to the next: 10^33 objects in 40 KiB.
        let archiver = KeyedArchiver()
        var uid = archiver.uid(of: String(repeating: "y", count: 60))
        for _ in 0..<10 {
            let array = archiver.writer.reserveObject()
            archiver.writer.pushScope()
            archiver.writer.set(
                "NS.objects",
                archiver.writer.array([ArchiveWriter.UID](repeating: uid, count: 2_000))
            )
            archiver.writer.popObject(array, class: ArchivedClass(name: "NSArray"))
            uid = array
        }
        archiver.writer.set("root", archiver.writer.reference(to: uid))
        let data = try archiver.encodedData
        for limits in [ArchiveLimits(referencesPerByte: 0), ArchiveLimits(decodedBytesPerByte: 0), ArchiveLimits()]
        {
            let coder = try KeyedUnarchiver(forReadingFrom: data, limits: limits)
            // Arrays are shared, so that this is done soon; a small budget ends it sooner.
            _ = coder.decodeObject(forKey: "root")
            if let error = coder.error as? ArchiveError { #expect(error.code == .limitExceeded) }
        }
    }
}

final class Demanding: NSObject, NSCoding {
    let name: String
    required init?(coder: NSCoder) {
        guard let name = try? coder.decode(String.self, forKey: "name") else { return nil }
        self.name = name
    }
    func encode(with coder: NSCoder) {}
}

final class OldDistance: NSObject, NSCoding {
    let kilometers: Double
    init(kilometers: Double) { self.kilometers = kilometers }
    required init?(coder: NSCoder) { kilometers = coder.decodeDouble(forKey: "distance") }
    func encode(with coder: NSCoder) { coder.encode(kilometers, forKey: "distance") }
}

final class Distance: NSObject, NSCoding {
    let meters: Double
    init(meters: Double) { self.meters = meters }
    required init?(coder: NSCoder) {
        let distance = coder.decodeDouble(forKey: "distance")
        meters = coder.decodeVersion() < 2 ? distance * 1_000 : distance
    }
    func encode(with coder: NSCoder) {
        coder.encodeVersion(2)
        coder.encode(meters, forKey: "distance")
        coder.encode("whatever a later version adds", forKey: "note")
    }
}
