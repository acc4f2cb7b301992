import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// GNUstep reads archives by this package, and the other way round; `Scripts/gnustep` builds its program.
@Suite(.enabled(if: GNUstep.program != nil, "run Scripts/gnustep"), .serialized)
struct GNUstepTests {
    @Test func whatGNUstepWritesIsReadAsItWas() throws {
        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = try GNUstep.run(["write", folder.path]).split(separator: "\n")
        #expect(lines.count > 40)
        for line in lines {
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            guard parts.count == 2, !parts[1].hasPrefix("raised ") else { continue }
            let outcome = try GNUstep.outcome(parts[0], "read") {
                let data = try Data(contentsOf: folder.appending(path: parts[0]))
                let object = try KeyedUnarchiver.unarchivedObject(
                    ofClass: Any.self,
                    allowing: [GNUstepSample.self],
                    from: data
                )
                return (object.map { GNUstepNotation.describe($0) } ?? "nil", parts[1])
            }
            check(parts[0], outcome, allowing: GNUstep.notWrittenAlike)
        }
    }

    @Test func whatIsWrittenGNUstepReadsAsItWas() throws {
        for (name, object) in GNUstep.objects() {
            let outcome = try GNUstep.outcome(name, "written") {
                let data = try KeyedArchiver.archivedData(withRootObject: object)
                let file = TestDirectory.newPath()
                try data.write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                return (try GNUstep.run(["read", file.path]), GNUstepNotation.describe(object))
            }
            check(name, outcome, allowing: GNUstep.notReadAlike)
        }
    }

    /// Equal, or one of the known differences.
    private func check(_ name: String, _ outcome: GNUstep.Outcome, allowing differences: [String: String]) {
        switch outcome {
        case .equal: #expect(differences[name] == nil, "\(name) is alike now")
        case .different(let found, let wanted): #expect(found == differences[name], "\(name): \(wanted)")
        case .refused(let error): #expect(differences[name] == error.code.description, "\(name): \(error)")
        }
    }
}

enum GNUstep {
    enum Outcome {
        case equal
        case different(found: String, wanted: String)
        case refused(ArchiveError)
    }

    static let program = ProcessInfo.processInfo.environment["TYPED_CACHE_GNUSTEP"]

    /// The results for values that GNUstep loses, or writes in another form than Apple's archiver.
    static let notWrittenAlike: [String: String] = [
        "null-string": "nil",
        "unsigned-integer": "-1",
        "uuid": "corrupted",
        // Forms of its own.
        "counted-set": "corrupted",
        "decimal": "corrupted",
        "index-path": "corrupted",
        "locale": "corrupted",
        "regular-expression": "corrupted",
        "time-zone": "corrupted",
        // Always under the mutable class.
        "index-set": "mutable indexes 1 2 3",
    ]
    /// The results for values that GNUstep does not restore as they were, also from archives by Apple.
    static let notReadAlike: [String: String] = [
        "array": "mutable [\"a\", 1, mutable []]",
        "null-string": "nil",
        "shared": "mutable [mutable [\"one\", 2], mutable [\"one\", 2]]",
        "unsigned-integer":
            "raised NSInvalidArgumentException: Stored number too long (16 bytes) in property list",
        "uuid": "nil",
        "counted-set": "counted {}",
        "decimal": noClass,
        "index-path": "raised NSInvalidArgumentException: NSDataMalloc(instance) does not recognize mutableBytes",
        "locale": "locale en_US_POSIX",
        "point": noArray,
        "range": noArray,
        "rect": noArray,
        "size": noArray,
        "time-zone": "nil",
    ]
    private static let noArray =
        "raised NSInvalidUnarchiveOperationException: "
        + "[NSKeyedUnarchiver +decodeArrayOfObjCType:count:at:]: value is '(null)'"
    private static let noClass =
        "raised NSInvalidUnarchiveOperationException: "
        + "[NSKeyedUnarchiver +_decodeObject:]: no class for name 'NSDecimalNumberPlaceholder'"

    /// Tries one kind, and prints the outcome.
    static func outcome(_ name: String, _ verb: String, _ body: () throws -> (String, String)) throws -> Outcome {
        do {
            let (found, wanted) = try body()
            print("GNUstep: \(name) \(verb): \(found == wanted ? "equal" : "\(found) instead of \(wanted)")")
            return found == wanted ? .equal : .different(found: found, wanted: wanted)
        } catch let error as ArchiveError {
            print("GNUstep: \(name) \(verb): refused, \(error.code)")
            return .refused(error)
        }
    }

    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(program))
        process.arguments = arguments
        let pipe = Pipe.make()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal { return "ended by a signal" }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// The objects that the program writes, too.
    static func objects() -> [(String, Any)] {
        let shared = NSMutableArray(array: ["one", 2])
        let parent = GNUstepSample("parent")
        let child = GNUstepSample("child")
        parent.child = child
        child.parent = parent
        child.content = NSMutableArray(array: [NSNull(), "x"])
        let attributed = NSMutableAttributedString(string: "plain bold")
        attributed.addAttribute(
            NSAttributedString.Key("Weight"),
            value: 700,
            range: NSRange(location: 6, length: 4)
        )
        let ranges = NSMutableIndexSet(indexesIn: NSRange(location: 1, length: 3))
        ranges.add(in: NSRange(location: 300, length: 2))
        return values + [
            ("shared", [shared, shared]),
            ("object", parent),
            ("ordered-set", NSOrderedSet(array: ["b", "a"])),
            ("mutable-ordered-set", NSMutableOrderedSet(array: ["b", "a"])),
            ("counted-set", NSCountedSet(array: ["a", "a", "b"])),
            ("index-set", NSIndexSet(indexesIn: NSRange(location: 1, length: 3))),
            ("mutable-index-set", ranges),
            ("index-path", IndexPath(indexes: [4, 8, 300])),
            ("range", NSValue(range: NSRange(location: 3, length: 4))),
            ("point", NSValue(point: NSPoint(x: 1.5, y: -2))),
            ("size", NSValue(size: NSSize(width: 1.5, height: 2))),
            ("rect", NSValue(rect: NSRect(x: 1, y: 2, width: 3.5, height: 4))),
            ("decimal", NSDecimalNumber(string: "-1234.5678")),
            ("attributed-string", attributed),
            ("locale", NSLocale(localeIdentifier: "de_CH")),
            ("time-zone", NSTimeZone(name: "Europe/Zurich") as Any),
            ("error", NSError(domain: "Domain", code: 7)),
        ]
    }

    private static var values: [(String, Any)] {
        [
            ("string", "text \"quoted\""),
            ("empty-string", ""),
            ("unicode-string", "Länge 🏙 通り"),
            ("null-string", "$null"),
            ("mutable-string", NSMutableString(string: "text")),
            ("integer", 42),
            ("negative-integer", -42),
            ("wide-integer", Int64.min),
            ("unsigned-integer", UInt64.max),
            ("real", 0.1),
            ("float", Float(1.5)),
            ("boolean", true),
            ("data", Data([0x00, 0xFF, 0x80])),
            ("mutable-data", NSMutableData(data: Data("abc".utf8))),
            ("date", Date(timeIntervalSinceReferenceDate: 100.25)),
            ("url", URL(string: "https://example.org/a?b=c#d") as Any),
            ("relative-url", URL(string: "b?c#d", relativeTo: URL(string: "https://example.org/a/")) as Any),
            ("uuid", UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
            ("null", NSNull()),
            ("array", ["a", 1, [] as [Any]] as [Any]),
            ("mutable-array", NSMutableArray(array: ["a"])),
            ("set", NSSet(array: ["a", "b", 1])),
            ("mutable-set", NSMutableSet(array: ["a"])),
            ("dictionary", ["k": "v", "n": NSNull()] as [String: Any]),
            ("mutable-dictionary", NSMutableDictionary(dictionary: ["k": "v"])),
        ]
    }
}
