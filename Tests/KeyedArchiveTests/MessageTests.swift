import Foundation
import Testing

@testable import KeyedArchive

/// Messages say what was there, what was asked for, and what to do; never a value.
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
                do { _ = try unarchiver.decode([Asked].self, at: root, nil) } catch let error as DecodingError {
                    throw ArchiveError(error)
                }
            }
        }
        let number = try message(Text(field: "secret"), as: Number.self)
        #expect(number.message == "a string, where Int is asked for")
        #expect(number.keyPath == ["Index 0", "field"] || number.keyPath == ["0", "field"])
        #expect(number.offset != nil)
        let text = try message(Number(field: 424_242), as: Text.self)
        #expect(text.message == "an integer, where String is asked for")
        #expect(
            try message(Text(field: "secret"), as: List.self).message == "a string, where an array is asked for"
        )
        let nested = try message(Number(field: 424_242), as: Nested.self)
        #expect(nested.message == "an integer, where an object with keys is asked for")
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
