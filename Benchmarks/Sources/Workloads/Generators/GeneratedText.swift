/// ASCII text of made-up words, which compresses about as far as the contents of models: some words come again often.
public struct GeneratedText: Sendable {
    private let words: [String]
    private let distribution: ZipfDistribution

    public init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let onsets = ["b", "br", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w", "z"]
        let vowels = ["a", "e", "i", "o", "u", "ei", "ou", "ae"]
        let codas = ["", "", "l", "n", "r", "s", "t", "ck", "nd"]
        words = (0..<4_000).map { _ in
            (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                let parts = [onsets, vowels, codas].map { $0[Int.random(in: 0..<$0.count, using: &generator)] }
                return parts.joined()
            }
            .joined()
        }
        distribution = ZipfDistribution(count: words.count, exponent: 0.9)
    }

    /// One word after the other, at least `byteCount` bytes of UTF-8, and hardly more.
    public func text(byteCount: Int, using generator: inout some RandomNumberGenerator) -> String {
        var text = ""
        while text.utf8.count < byteCount {
            if !text.isEmpty { text += " " }
            text += words[distribution.next(using: &generator)]
        }
        return text
    }
}
