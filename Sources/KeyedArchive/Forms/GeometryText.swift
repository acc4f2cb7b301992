import Foundation

/// Points, sizes and rectangles as archives write them: `{400, 300}`, `{{0, 0}, {200, 300}}`.
enum GeometryText {
    /// A number as C prints it with 17 significant digits: Apple's archiver does.
    static func text(_ number: CGFloat) -> String { String(format: "%.17g", Double(number)) }

    static func text(_ first: CGFloat, _ second: CGFloat) -> String { "{\(text(first)), \(text(second))}" }

    /// The first `count` numbers in a text, however they are spaced and bracketed; a word that is missing, or is no
    /// number, gives 0.
    static func numbers(in text: String, count: Int) -> [Double] {
        let words = text.split(maxSplits: 64) { "{}, \t\r\n;".contains($0) }
        return (0..<count).map { index in
            index < words.count ? Double(words[index]) ?? 0 : 0
        }
    }
}
