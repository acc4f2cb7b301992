/// Rows as RFC 4180 writes them, fields quoted where they must be.
struct CSVText: CustomStringConvertible {
    let description: String

    init(_ rows: [[String]], lineEnding: String) {
        description = rows.map { $0.map(Self.field).joined(separator: ",") + lineEnding }.joined()
    }

    private static func field(_ text: String) -> String {
        let marks: [Unicode.Scalar] = [",", "\"", "\r", "\n"]
        // An empty only field would be an empty line.
        guard text.isEmpty || text.unicodeScalars.contains(where: marks.contains) else { return text }
        // By scalars: CR LF is one character, and a quote may carry a combining mark.
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
