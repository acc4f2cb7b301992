import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// One form for texts that Swift takes for equal.
@Suite struct ComposedTextTests {
    /// Most texts are taken as they are, without Foundation, which would leave them so.
    @Test func theFormOfOneScalarIsFoundations() {
        var others: [String] = []
        // Beyond the planes of scripts there is nothing that has forms.
        for scalar in (UInt32(0)..<0x3_0000).compactMap(Unicode.Scalar.init) {
            let text = String(Character(scalar))
            let form = text.precomposedStringWithCanonicalMapping
            if !text.composed.utf8.elementsEqual(form.utf8) { others.append(String(scalar.value, radix: 16)) }
        }
        #expect(others == [])
    }

    @Test(arguments: seeds(0..<8)) func equalTextsHaveOneForm(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let scalars =
            "aé\u{E9}e\u{301}\u{323}\u{302}\u{1EC7}가각\u{AC00}\u{11A8}\u{1100}\u{1161}Åk\u{212B}\u{30A}яか\u{3099}が漢\u{F900}"
            .unicodeScalars.map { $0 }
        var forms: [String: [UInt8]] = [:]
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                if let scalar = scalars.randomElement(using: &random) { text.unicodeScalars.append(scalar) }
            }
            let form = text.composed
            #expect(form == text)
            let bytes = Array(form.utf8)
            if let other = forms.updateValue(bytes, forKey: text), other != bytes {
                Issue.record("two forms of \(text.unicodeScalars.map { String($0.value, radix: 16) })")
            }
        }
    }
}
