import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Many objects that share one long part, which each of them copies or goes through, are refused soon.
@Suite struct SharedPartTests {
    /// An archive of `count` objects of a class, each with the fields that `body` encodes.
    private func archive(
        _ className: String,
        count: Int,
        in owner: String? = nil,
        _ body: (KeyedArchiver) -> Void
    ) throws -> Data {
        let archiver = KeyedArchiver()
        let cls = ArchivedClass(name: className)
        let ownersClass = owner.map { ArchivedClass(name: $0) }
        let list = archiver.collection(.of(NSArray.self)) { list in
            for _ in 0..<count {
                var uid = archiver.container(cls, of: nil) { body(archiver) }
                if let ownersClass {
                    let part = uid
                    uid = archiver.container(ownersClass, of: nil) {
                        archiver.writer.set("part", archiver.writer.reference(to: part))
                    }
                }
                list.append(uid)
            }
        }
        archiver.writer.set("root", archiver.writer.reference(to: list))
        return try archiver.encodedData
    }

    private func read(_ data: Data) -> ArchiveError.Code? {
        code { try KeyedUnarchiver.unarchivedObject(ofClass: [Any].self, allowing: [Owner.self], from: data) }
    }

    enum Kind: String, CaseIterable {
        case mutableString, mutableData, attributedString, url, point, rectangle, characters

        var className: String {
            switch self {
            case .mutableString: "NSMutableString"
            case .mutableData: "NSMutableData"
            case .attributedString: "NSMutableAttributedString"
            case .url: "NSURL"
            case .point, .rectangle: "NSValue"
            case .characters: "NSCharacterSet"
            }
        }

        func encode(_ length: Int, _ archiver: KeyedArchiver) {
            let filler = String(repeating: "s", count: length)
            func text(_ text: String, _ key: String) {
                archiver.writer.set(key, archiver.writer.reference(to: archiver.string(text)))
            }
            switch self {
            case .mutableString: text(filler, "NS.string")
            case .mutableData: break
            case .attributedString: text(filler, "NSString")
            case .url: text("http://a/" + filler, "NS.relative")
            case .point:
                archiver.encode(1, forKey: "NS.special")
                text("{" + String(repeating: " ", count: length) + "1, 2}", "NS.pointval")
            case .rectangle:
                archiver.encode(3, forKey: "NS.special")
                text("{" + String(repeating: " ", count: length) + "1, 2, 3, 4}", "NS.rectval")
            case .characters: text(filler, "NSStringObject")
            }
        }
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Kind.allCases) func textsAndData(kind: Kind) throws {
        func data(length: Int, count: Int) throws -> Data {
            // One object, so that it is one place.
            let data = NSMutableData(data: Data(repeating: 1, count: length))
            return try archive(kind.className, count: count) { archiver in
                if kind != .mutableData { return kind.encode(length, archiver) }
                archiver.writer.set("NS.data", archiver.writer.reference(to: archiver.uid(of: data)))
            }
        }
        let many = try data(length: 5_000, count: 2_000)
        #expect(many.count < 100_000)
        #expect(read(many) == .limitExceeded)
        #expect(read(try data(length: 5_000, count: 2)) == nil)
    }

    /// A cast of the user info copies it, and an object of a class holds no members.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["NSError", "NSNotification"])
    func userInfo(className: String) throws {
        func data(entries: Int, count: Int) throws -> Data {
            let info = NSMutableDictionary()
            for number in 0..<entries { info["k\(number)"] = "v" }
            return try archive(className, count: count, in: "KeyedArchiveTests.Owner") { archiver in
                let place = archiver.writer.reference(to: archiver.uid(of: info))
                for key in ["NSDomain", "NS.name"] { archiver.encode("a", forKey: key) }
                archiver.encode(1, forKey: "NSCode")
                for key in ["NSUserInfo", "NS.userinfo"] { archiver.writer.set(key, place) }
            }
        }
        let many = try data(entries: 1_500, count: 1_500)
        #expect(many.count < 200_000)
        #expect(read(many) == .limitExceeded)
        #expect(read(try data(entries: 20, count: 1_000)) == nil)
    }

    /// Values by C type; their bytes live as long as the unarchiver.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [true, false]) func keptBytes(isText: Bool) throws {
        let bytes = Data(repeating: 65, count: 20_000)
        func error(count: Int) throws -> ArchiveError.Code? {
            let archiver = KeyedArchiver()
            let text = archiver.string(String(repeating: "s", count: 20_000))
            let place = isText ? text : archiver.uid(of: bytes)
            for _ in 0..<count { archiver.writer.setUnkeyed(archiver.writer.reference(to: place)) }
            let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
            for _ in 0..<count {
                var text: UnsafeMutablePointer<CChar>?
                var length = 0
                if isText {
                    unarchiver.decodeValue(ofObjCType: "*", at: &text)
                } else {
                    _ = unarchiver.decodeBytes(withReturnedLength: &length)
                }
            }
            return (unarchiver.error as? ArchiveError)?.code
        }
        #expect(try error(count: 4_000) == .limitExceeded)
        #expect(try error(count: 2) == nil)
    }
}

/// Holds one object, and is never taken for several.
final class Owner: NSObject, NSCoding {
    init?(coder: NSCoder) { if coder.decodeObject(forKey: "part") == nil { return nil } }
    func encode(with coder: NSCoder) {}
}
