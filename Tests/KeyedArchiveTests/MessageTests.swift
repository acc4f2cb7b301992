import Foundation
import Testing

@testable import KeyedArchive

/// Messages say what the archive has, what the program expected, and what to do; never a value.
@Suite struct MessageTests {
    private func error(_ body: () throws -> Void) throws -> ArchiveError {
        try #require(#expect(throws: ArchiveError.self, performing: body))
    }

    private func refused(_ prepare: (KeyedUnarchiver) -> Void = { _ in }) throws -> ArchiveError {
        let data = try KeyedArchiver.archivedData(withRootObject: Base(title: "secret"))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Secure.self])
        prepare(unarchiver)
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        return try #require(unarchiver.error as? ArchiveError)
    }

    @Test func aClassThatIsNotExpectedComesWithWhatWouldAllowIt() throws {
        let error = try refused()
        #expect(error.code == .classNotAllowed)
        #expect(error.message.hasPrefix("class KeyedArchiveTests.Base is not among those expected here; "))
        for word in ["classes:", "allowing:", "setClass(_:forClassName:)"] { #expect(error.message.contains(word)) }
    }

    @Test func aDelegatesAnswerThatIsRefusedIsNamed() throws {
        let delegate = Answering(Point.self)
        let error = try refused { $0.delegate = delegate }
        #expect(error.code == .classNotAllowed)
        #expect(
            error.message.contains("the delegate gave KeyedArchiveTests.Point, which is not among those expected")
        )
        #expect(error.message.contains("allowing:"))
    }

    @Test func aGivenClassThatIsRefusedIsNamed() throws {
        let error = try refused { $0.setClass(Point.self, forClassName: "KeyedArchiveTests.Base") }
        #expect(
            error.message.contains("setClass(_:forClassName:) gave it KeyedArchiveTests.Point, which is not among")
        )
    }

    @Test func aClassWithoutSecureCodingIsSaidToBe() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Base(title: "secret"))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Base.self])
        unarchiver.requiresSecureCoding = true
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        let error = try #require(unarchiver.error as? ArchiveError)
        #expect(error.code == .classNotAllowed)
        #expect(error.message.contains("KeyedArchiveTests.Base, which does not support secure coding"))
    }

    @Test func aTypeThatDoesNotFitIsNamedBesideTheOneThatIsThere() throws {
        struct Text: Codable { var field: String }
        struct Number: Codable { var field: Int }
        struct List: Codable { var field: [Int] }
        struct Nested: Codable { var field: Text }
        func message<T: Codable, Asked: Codable>(_ value: T, as type: Asked.Type) throws -> ArchiveError {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: KeyedArchiver.archivedData(encoding: [value]))
            guard let root = try unarchiver.value(of: "root") else {
                throw ArchiveError(.missingValue, "the archive has no root")
            }
            return try error {
                do {
                    _ = try ArchiveDecoder(unarchiver, at: root, path: nil).decode([Asked].self)
                } catch let error as DecodingError {
                    throw ArchiveError(error)
                }
            }
        }
        let number = try message(Text(field: "secret"), as: Number.self)
        #expect(number.message == "a string, where Int is expected")
        #expect(number.keyPath == ["Index 0", "field"] || number.keyPath == ["0", "field"])
        #expect(number.offset != nil)
        let text = try message(Number(field: 424_242), as: Text.self)
        #expect(text.message == "an integer, where String is expected")
        #expect(
            try message(Text(field: "secret"), as: List.self).message == "a string, where an array is expected"
        )
        let nested = try message(Number(field: 424_242), as: Nested.self)
        #expect(nested.message == "an integer, where an object with keys is expected")
    }

    /// Every kind of value, asked for as every other one: both are named, once each, and no value is.
    @Test func eachMismatchNamesBothTypesOnce() throws {
        let secret = "s3cret-marker"
        let stored: [(any Codable, String)] = [
            (secret, "a string"), (424_242, "an integer"), (true, "a Boolean"), (424_242.5, "a real number"),
            (Data(secret.utf8), "data"), (Date(timeIntervalSince1970: 424_242), "an object of class NSDate"),
            (URL(filePath: "/\(secret)"), "an object of class NSURL"), (UUID(), "an object of class NSUUID"),
            ([secret], "an object of class NSArray"), (["key": secret], "an object of class NSDictionary"),
            (Inner(field: secret), "an object of class KeyedArchiveTests.Inner"),
        ]
        let asked: [(any Codable.Type, String)] = [
            (String.self, "String"), (Int.self, "Int"), (UInt8.self, "UInt8"), (Bool.self, "Bool"),
            (Double.self, "Double"), (Float.self, "Float"), (Data.self, "Data"), (Date.self, "Date"),
            (URL.self, "URL"), (UUID.self, "UUID"), ([Int].self, "an array"), (Inner.self, "an object with keys"),
            ([String: Int].self, "Dictionary<String, Int>"), ([Int: Int].self, "Dictionary<Int, Int>"),
        ]
        var mismatches = 0
        func check<Value: Codable>(_ value: Value, _ kind: String, as type: any Codable.Type, word: String) throws {
            func decode<Asked: Codable>(_ type: Asked.Type) throws {
                let archive = try KeyedArchiver.archivedData(encoding: [Box(field: value)])
                let unarchiver = try KeyedUnarchiver(forReadingFrom: archive)
                guard let root = try unarchiver.value(of: "root") else { return }
                do {
                    _ = try ArchiveDecoder(unarchiver, at: root, path: nil).decode([Box<Asked>].self)
                } catch let error as DecodingError {
                    let error = ArchiveError(error)
                    #expect(!"\(error)".contains(secret) && !"\(error)".contains("424242"), "\(error)")
                    #expect(error.keyPath.contains("field"), "\(error)")
                    switch error.message {
                    case "\(kind), where \(word) is expected": mismatches += 1
                    case "\(kind) that does not fit \(word)": #expect(error.code == .outOfRange)
                    // It is one further in that is another, or that is missing: any object gives its keys.
                    case "a string, where Int is expected": #expect(Value.self != String.self, "\(error)")
                    case "no value": #expect(Asked.self == Inner.self && error.keyPath.count == 3, "\(error)")
                    default: Issue.record("\(kind) as \(word): \(error)")
                    }
                }
            }
            try decode(type)
        }
        for (value, kind) in stored {
            for (type, word) in asked { try check(value, kind, as: type, word: word) }
        }
        #expect(mismatches > 100)
    }

    @Test func objectsThatDoNotFitAreNamedBesideTheClassesAskedFor() throws {
        func refused(
            _ object: any NSObject & NSCoding,
            _ classes: [AnyClass] = [],
            _ decode: (KeyedUnarchiver) -> Void
        ) throws -> String {
            let data = try KeyedArchiver.archivedData(withRootObject: object)
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
            decode(unarchiver)
            let error = try #require(unarchiver.error as? ArchiveError)
            #expect(error.code == .typeMismatch && !"\(error)".contains("secret"), "\(error)")
            return error.message
        }
        let text = NSString(string: "secret")
        let one = try refused(text) { _ = $0.decodeObject(of: NSNumber.self, forKey: "root") }
        #expect(one == "Swift.String, where NSNumber is expected")
        let two = try refused(text) { _ = $0.decodeObject(of: [NSNumber.self, NSDate.self], forKey: "root") }
        #expect(two == "Swift.String, where NSNumber or NSDate is expected")
        let many: [AnyClass] = [
            NSNumber.self, NSDate.self, NSURL.self, NSUUID.self, NSData.self, NSArray.self, NSSet.self,
        ]
        let most = try refused(text) { _ = $0.decodeObject(of: many, forKey: "root") }
        #expect(most == "Swift.String, where NSNumber, NSDate, NSURL, NSUUID, NSData or 2 more is expected")
        let base = try refused(Base(title: "secret")) {
            _ = $0.decodeArrayOfObjects(ofClass: Base.self, forKey: "root")
        }
        #expect(base.hasPrefix("KeyedArchiveTests.Base, where Swift.Array<KeyedArchiveTests.Base> is"), "\(base)")
        let late = try refused(Base(title: "secret"), [Base.self]) {
            $0.decodeObject(of: Secure.self, forKey: "root", whenComplete: { _ in })
            // References are delivered when the outermost call ends.
            _ = $0.decodeObject(of: Base.self, forKey: "other")
        }
        #expect(late == "an object of class KeyedArchiveTests.Base, where KeyedArchiveTests.Secure is expected")
    }

    @Test func anObjectThatRefusesIsNamed() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: [Refusing()])
        let member = try error { _ = try KeyedUnarchiver.unarchiveObject(with: data, allowing: [Refusing.self]) }
        #expect(member.code == .decodingFailed)
        #expect(member.message.contains("an object of class KeyedArchiveTests.Refusing"))
        let root = try KeyedArchiver.archivedData(withRootObject: Refusing())
        let whole = try error { _ = try KeyedUnarchiver.unarchiveObject(with: root, allowing: [Refusing.self]) }
        #expect(whole.message.hasPrefix("the root, an object of class KeyedArchiveTests.Refusing, refused"))
    }

    @Test func whatATypeThrewIsNamedByItsType() throws {
        let data = try KeyedArchiver.archivedData(encoding: Throwing(secret: "secret"))
        let thrown = try error { _ = try KeyedUnarchiver.unarchivedValue(of: Throwing.self, from: data) }
        #expect(thrown.message.contains("init(from:) of KeyedArchiveTests.Throwing threw"))
        #expect(thrown.message.contains("Complaint"))
        #expect(!thrown.description.contains("secret"))
    }

    @Test func theDetailIsTheDescriptionWithoutTheCode() throws {
        let error = ArchiveError(.typeMismatch, "text", offset: 3, keyPath: ["a", "b"])
        #expect(error.detail == "text, at a.b, byte 3")
        #expect(error.description == "typeMismatch: text, at a.b, byte 3")
    }
}

private final class Answering: KeyedUnarchiverDelegate {
    let answer: AnyClass
    init(_ answer: AnyClass) { self.answer = answer }

    func unarchiver(
        _ unarchiver: KeyedUnarchiver,
        cannotDecodeObjectOfClassName name: String,
        originalClasses classNames: [String]
    ) -> AnyClass? { answer }
}

final class Refusing: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) {}
}

struct Complaint: Error { var secret: String }

struct Throwing: Codable {
    var secret: String
    init(secret: String) { self.secret = secret }
    init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: CodingKeys.self)
        throw Complaint(secret: "secret")
    }
}

private struct Box<Field: Codable>: Codable { var field: Field }

struct Inner: Codable { var field: String }
