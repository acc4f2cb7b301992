import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Foundation's values are decoded in short where they stand as archivers write them; each other form, sound or not, comes
/// to the end to which the longer way leads.
@Suite struct UsualFormTests {
    /// Decodes a value in both ways: a class that is expected rules out the short one.
    private func outcomes<T: Decodable & Equatable>(
        _ type: T.Type,
        in archive: Data
    ) throws -> (short: Result<T, any Error>, long: Result<T, any Error>) {
        func outcome(_ classes: [AnyClass]) throws -> Result<T, any Error> {
            let unarchiver = try KeyedUnarchiver(UnarchiverMemoryPool.take(copying: archive), classes: classes)
            let root = try #require(try unarchiver.value(of: "root"))
            return Result { try ArchiveDecoder(unarchiver, at: root, path: nil).decode(type) }
        }
        return (try outcome([]), try outcome([NSIndexSet.self]))
    }

    private func compare<T: Decodable & Equatable>(_ type: T.Type, _ archive: Data, note: String) throws {
        let (short, long) = try outcomes(type, in: archive)
        #expect((try? short.get()) == (try? long.get()), "\(type) \(note)")
        if case .failure = long { #expect("\(short)" == "\(long)", "\(type) \(note)") }
    }

    /// An object with these fields; the class stands last unless `isFirst`.
    private func archive(
        of className: String,
        isFirst: Bool = false,
        _ fields: (inout HandmadeArchive) -> [(String, HandmadeArchive.Part)]
    ) -> Data {
        var made = HandmadeArchive()
        var fields = fields(&made)
        fields.insert(("$class", made.cls(className)), at: isFirst ? 0 : fields.count)
        let object = made.dictionary(fields.map { made.name($0.0) }, fields.map { $0.1 })
        return made.bytes(root: made.uid(made.place(object)))
    }

    @Test(arguments: [false, true]) func fieldsOfEachKind(isFirst: Bool) throws {
        let values: [(inout HandmadeArchive) -> HandmadeArchive.Part] = [
            { $0.real(1.5) }, { $0.integer(7) }, { $0.ascii("https://example.com/a") }, { $0.uid(0) },
            { $0.data(Data(1...16)) }, { $0.data(Data(1...15)) }, { $0.ascii("$null") },
            { $0.uid($0.place($0.ascii("https://example.com/\(String(repeating: "a", count: 300))"))) },
            { $0.uid($0.place($0.ascii("https://example.com/ü b"))) }, { $0.uid($0.place($0.ascii("a b"))) },
            { $0.uid($0.place($0.ascii("$null"))) }, { $0.uid($0.place($0.utf16("https://example.com"))) },
            { $0.uid($0.place($0.real(2))) }, { $0.uid($0.place($0.data(Data(1...16)))) }, { $0.uid(9_999) },
        ]
        for (index, value) in values.enumerated() {
            for other in [values[0], values[3], values[8], values[10], values[14]] {
                let url = archive(of: "NSURL", isFirst: isFirst) { archive in
                    [("NS.base", other(&archive)), ("NS.relative", value(&archive))]
                }
                try compare(URL.self, url, note: "\(index)")
            }
            for name in ["NSDate", "NSUUID", "NSNull", "NSString", "Player.Album"] {
                for key in ["NS.time", "NS.uuidbytes", "NS.string"] {
                    let object = archive(of: name, isFirst: isFirst) { [(key, value(&$0))] }
                    try compare(Date.self, object, note: "\(name) \(key) \(index)")
                    try compare(UUID.self, object, note: "\(name) \(key) \(index)")
                    try compare(Data.self, object, note: "\(name) \(key) \(index)")
                    try compare(Date?.self, object, note: "\(name) \(key) \(index)")
                }
            }
        }
    }

    @Test func decimals() throws {
        var random = SeededGenerator(seed: 7)
        for round in 0..<2_000 {
            let shift = UInt64.random(in: 0..<64, using: &random)
            let mantissa = UInt64.random(in: .min ... .max, using: &random) >> shift
            let bytes = withUnsafeBytes(of: mantissa.littleEndian) { Data($0) } + Data(repeating: 0, count: 8)
            let exponent = Int32.random(in: -140...140, using: &random)
            let length = Int32.random(in: -1...9, using: &random)
            let number = archive(of: "NSDecimalNumberPlaceholder") { archive in
                [
                    ("NS.length", archive.integer(length)), ("NS.exponent", archive.integer(exponent)),
                    ("NS.negative", archive.integer(Int32.random(in: 0...1, using: &random))),
                    ("NS.compact", archive.integer(1)),
                    ("NS.mantissa.bo", archive.integer(Int32.random(in: 1...2, using: &random))),
                    ("NS.mantissa", archive.data(bytes)),
                ]
            }
            try compare(Decimal.self, number, note: "\(round)")
            let value = Decimal(sign: .minus, exponent: Int(exponent) / 2, significand: Decimal(mantissa))
            let written = try KeyedArchiver.archivedData(encoding: [value])
            #expect(try KeyedUnarchiver.unarchivedValue(of: [Decimal].self, from: written) == [value], "\(round)")
        }
    }

    /// The bytes of an array do not depend on whether a coder or the archiver itself writes it.
    @Test func arraysHaveTheBytesOfTheirOwnCoding() throws {
        struct Own<Member: Encodable>: Encodable {
            let members: [Member]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for member in members { try container.encode(member) }
            }
        }
        func compare<Member: Encodable>(_ members: [Member]) throws {
            let short = try KeyedArchiver.archivedData(encoding: ["a": members])
            let long = try KeyedArchiver.archivedData(encoding: ["a": Own(members: members)])
            #expect(short == long, "\(Member.self)")
        }
        try compare(["a", "$null", "", "NS.objects", "a", "ü"])
        try compare([1, -1, .max])
        try compare([1.5, .infinity, 0])
        try compare([Date(timeIntervalSince1970: 1), .distantPast])
        let base = try #require(URL(string: "https://example.com"))
        try compare([base, try #require(URL(string: "a", relativeTo: base))])
        try compare([UUID(), UUID()])
        try compare([String]())
    }

    /// A class that the program gave for a Foundation class's name decodes in its place.
    @Test func givenClassesComeFirst() throws {
        let archive = try KeyedArchiver.archivedData(encoding: [Date(timeIntervalSince1970: 1)])
        let unarchiver = try KeyedUnarchiver(UnarchiverMemoryPool.take(copying: archive))
        unarchiver.setClass(NSIndexSet.self, forClassName: "NSDate")
        let root = try #require(try unarchiver.value(of: "root"))
        #expect(throws: (any Error).self) {
            try ArchiveDecoder(unarchiver, at: root, path: nil).decode([Date].self)
        }
    }
}
