import Foundation

extension String {
    /// The text in one of the forms that Swift takes for equal, for a layer above whose keys are equal if Swift's strings
    /// are: caches compare bytes. It is composed, as text mostly is.
    package var composed: String {
        // By bytes first, which take a tenth of the time of scalars, and mostly answer: up to U+02FF.
        let greatest = utf8.withContiguousStorageIfAvailable { $0.reduce(0, max) }
        if let greatest, greatest < 0xCC { return self }
        if unicodeScalars.allSatisfy({ Self.isComposed($0) }) { return self }
        // Foundation composes no syllables of Hangul that are composed in part already.
        return decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
    }

    /// Whether a scalar is composed, and stays as it is beside other composed scalars: in Latin, Cyrillic, kana, Han and Hangul.
    private static func isComposed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x300, 0x400...0x482, 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }
}
