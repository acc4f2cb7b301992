import Foundation
import Testing

@testable import KeyedArchive

/// Foundation's own archiver and unarchiver, as far as they are sound on Linux.
@Suite struct FormInteroperabilityTests {
    /// Whether Foundation on Linux reads the sample: it does not know decimals, has another form for transforms and
    /// names, hashes errors, which ends the process, loses the end of intervals, and looks for attributes in strings
    /// without any.
    private static func isRead(_ sample: FormSample) -> Bool {
        let broken = [
            "NSDecimalNumberPlaceholder", "NSAffineTransform", "NSPersonNameComponents", "NSError",
            "NSNotification", "NSDateInterval",
        ]
        guard !broken.contains(sample.className), let value = try? sample.make(),
            let text = try? ArchivedForms(of: value).root
        else { return false }
        if sample.className == "NSAttributedString" { return text.contains("NSAttributeInfo") }
        // Numbers above 2^63, 16 bits, and a component that its class lacks there.
        return !["IndexPath 5"].contains(sample.name) && !text.contains("$0: @\"s\"")
            && !text.contains("$0: @\"S\"")
            && !text.contains("NS.dayOfYear")
    }

    @Test(arguments: FormSample.all.filter(isRead)) func foundationReadsWhatWeWrite(_ sample: FormSample) throws {
        let original = try sample.make()
        let data = try KeyedArchiver.archivedData(withRootObject: original)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let decoded = try #require(unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey))
        if let error = unarchiver.error { throw error }
        #expect(sample.isSame(decoded, original))
    }

    /// Whether Foundation on Linux writes the sample: not decimals and errors; names and components lose a part.
    private static func isWritten(_ sample: FormSample) -> Bool {
        let broken = ["NSDecimalNumberPlaceholder", "NSError", "NSPersonNameComponents"]
        guard !broken.contains(sample.className), let value = try? sample.make(), type(of: value) is AnyClass,
            let text = try? ArchivedForms(of: value).root
        else { return false }
        return !text.contains("$0: @\"s\"") && !text.contains("$0: @\"S\"") && !text.contains("NS.dayOfYear")
    }

    @Test(arguments: FormSample.all.filter(isWritten)) func weReadWhatFoundationWrites(_ sample: FormSample) throws
    {
        let original = try sample.make()
        let data = try NSKeyedArchiver.archivedData(withRootObject: original, requiringSecureCoding: false)
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: Any.self, from: data)
        let text = try ArchivedForms(data).root
        #expect(sample.isSame(decoded, original), "\(text)")
    }

    @Test func weReadTheNamesAndTransformsOfLinux() throws {
        var person = PersonNameComponents()
        person.givenName = "John"
        let names = try NSKeyedArchiver.archivedData(
            withRootObject: person as NSPersonNameComponents,
            requiringSecureCoding: false
        )
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: PersonNameComponents.self, from: names) == person)
        let turned = AffineTransform(m11: 1, m12: 2, m21: 3, m22: 4, tX: 5, tY: 6)
        let transform = try NSKeyedArchiver.archivedData(
            withRootObject: turned as NSAffineTransform,
            requiringSecureCoding: false
        )
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: AffineTransform.self, from: transform) == turned)
    }
}
