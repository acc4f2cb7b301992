import Foundation
import Testing

@testable import KeyedArchive

/// Foundation's values under a key: in Apple's form or as Codable values, they are decoded by one call.
struct FormedValueTests {
    private struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: @Sendable () throws -> Void

        init<Value: Codable & Equatable & Sendable>(_ value: Value) {
            testDescription = "\(Value.self)"
            check = { try comesBack(value) }
        }
    }

    private static func comesBack<Value: Codable & Equatable>(_ value: Value) throws {
        let archiver = KeyedArchiver()
        archiver.encode(value, forKey: "value")
        archiver.encode([value], forKey: "list")
        archiver.encode(["key": value], forKey: "dictionary")
        try archiver.encodeEncodable(value, forKey: "codable")
        try archiver.encodeEncodable([value], forKey: "codables")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(try unarchiver.decode(Value.self, forKey: "value") == value)
        #expect(try unarchiver.decodeIfPresent(Value.self, forKey: "value") == value)
        #expect(try unarchiver.decode([Value].self, forKey: "list") == [value])
        #expect(try unarchiver.decode([String: Value].self, forKey: "dictionary") == ["key": value])
        #expect(try unarchiver.decode(Value.self, forKey: "codable") == value)
        #expect(try unarchiver.decode([Value].self, forKey: "codables") == [value])
        try unarchiver.finishDecoding()
        let object = try KeyedArchiver.archivedData(withRootObject: value)
        #expect(try KeyedUnarchiver.unarchivedValue(of: Value.self, from: object) == value)
        let codable = try KeyedArchiver.archivedData(encoding: value)
        #expect(try KeyedUnarchiver.unarchivedValue(of: Value.self, from: codable) == value)
    }

    private static let samples: [Sample] = [
        Sample("text"), Sample(7), Sample(UInt8(200)), Sample(1.5), Sample(Float(0.5)), Sample(true),
        Sample(Date(timeIntervalSinceReferenceDate: 5)), Sample(Data([1, 2])), Sample(UUID()),
        Sample(URL(filePath: "/a")), Sample(Decimal(5)), Sample(Locale(identifier: "de_DE")),
        Sample(TimeZone.gmt), Sample(Calendar(identifier: .hebrew)), Sample(DateComponents(year: 2_026, month: 11)),
        Sample(DateInterval(start: Date(timeIntervalSinceReferenceDate: 1), duration: 2)),
        Sample(IndexSet([1, 2, 7])), Sample(IndexPath(indexes: [1, 300])), Sample(CharacterSet(charactersIn: "aé")),
        Sample(Measurement(value: 1, unit: UnitLength.miles)), Sample(PersonNameComponents(givenName: "Ada")),
        Sample(CGPoint(x: 1, y: 2)), Sample(CGSize(width: 1, height: 2)),
        Sample(CGRect(x: 1, y: 2, width: 3, height: 4)), Sample(NSRange(location: 1, length: 2)),
        Sample(AffineTransform(translationByX: 1, byY: 2)), Sample(CGFloat(0.5)), Sample(Set(["a", "b"])),
    ]

    @Test(arguments: samples) private func isDecodedFromEitherForm(_ sample: Sample) throws { try sample.check() }

    @Test func anotherFormIsAnError() throws {
        let archiver = KeyedArchiver()
        archiver.encode(TimeZone.gmt, forKey: "value")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let error = #expect(throws: ArchiveError.self) {
            try unarchiver.decode(DateComponents.self, forKey: "value")
        }
        #expect(error?.code == .typeMismatch)
    }

    /// An archiver writes nothing that would be refused.
    @Test func valuesThatAreNotReadAreNotWritten() {
        let infinite = Date(timeIntervalSinceReferenceDate: .infinity)
        for (value, code) in [
            (Locale(identifier: String(repeating: "x", count: 257)), .limitExceeded),
            (DateInterval(start: infinite, duration: 0), .unsupportedType),
            (DateInterval(start: Date(timeIntervalSinceReferenceDate: .nan), duration: 0), .unsupportedType),
        ] as [(Any, ArchiveError.Code)] {
            let error = #expect(throws: ArchiveError.self) {
                try KeyedArchiver.archivedData(withRootObject: [value])
            }
            #expect(error?.code == code)
        }
    }
}
