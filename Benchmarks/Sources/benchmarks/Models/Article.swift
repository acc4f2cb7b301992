import TypedCache
import Workloads

/// A record with some text, as articles, messages and descriptions are.
struct Article: Codable, Encoded, Sendable {
    let number: Int
    let title: String
    let changedAt: Double
    let text: String

    /// Articles that are all different and the same in every run.
    ///
    /// - Parameter textByteCount: how long their text is.
    static func make(count: Int, textByteCount: Int) -> [Article] {
        let source = GeneratedText(seed: 17)
        var generator = SeededGenerator(seed: UInt64(textByteCount))
        return (0..<count).map { number in
            Article(
                number: number,
                title: source.text(byteCount: 20, using: &generator),
                changedAt: 780_000_000 + Double(number * 7_919),
                text: source.text(byteCount: textByteCount, using: &generator)
            )
        }
    }
}
