import KeyedArchive
import TypedCache

/// Text of a length that makes an archive as large as wanted.
struct Document: Codable, Encoded {
    let text: String

    private static let words = """
        the harbour opens at six and closes when the last ship has left its berth nobody waits for the tide \
        although every captain knows how quickly water falls behind old stone walls where lamps burn all night \
        merchants count barrels sacks crates bottles letters and coins before they sign what clerks have written
        """.split(separator: " ")

    /// A document with an archive of that many bytes, give or take a few.
    static func archived(bytes: Int) throws -> Document {
        let besides =
            try KeyedArchiver.archivedData(encoding: Document(text: String(repeating: "x", count: 200)))
            .count - 200
        return Document(text: prose(length: max(0, bytes - besides)))
    }

    /// Words in an order that looks random and is the same in every run.
    private static func prose(length: Int) -> String {
        var state: UInt64 = 42
        var text = ""
        while text.utf8.count < length {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += words[Int(state >> 33) % words.count] + " "
        }
        return String(text.prefix(length))
    }
}
