import Foundation

/// A parsed command line.
struct Request {
    enum Question {
        case largest(country: String, count: Int)
        case city(id: Int)
        /// One after another, as they come from standard input.
        case cities
        case verify(file: String)
    }

    static let usage = """
        usage: atlas [--root DIR] largest COUNTRY [COUNT]
               atlas [--root DIR] city ID, or - for numbers from standard input, one per line
               atlas [--root DIR] verify FILE
        """

    let question: Question
    /// The directory that holds the cache's directory; `nil` for the program's own.
    let root: URL?

    /// - Parameter arguments: the command line without the program's name.
    /// - Throws: ``UsageError``.
    init(_ arguments: [String]) throws(UsageError) {
        var words: [String] = []
        var root: URL?
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--root" {
                guard let path = rest.popFirst(), !path.isEmpty else {
                    throw UsageError(description: "--root needs a directory.")
                }
                root = URL(fileURLWithPath: path, isDirectory: true)
            } else if word.hasPrefix("--") {
                throw UsageError(description: "There is no option '\(word)'.")
            } else {
                words.append(word)
            }
        }
        self.root = root
        question = try Self.question(words)
    }

    private static func question(_ words: [String]) throws(UsageError) -> Question {
        let operands = words.dropFirst()
        switch words.first {
        case "largest":
            guard (1...2).contains(operands.count) else {
                throw UsageError(description: "'largest' takes a country, such as DE, and maybe a count.")
            }
            let count = operands.count == 2 ? try number(words[2], atLeast: 1) : 5
            return .largest(country: words[1].uppercased(), count: count)
        case "city":
            guard operands.count == 1 else {
                throw UsageError(description: "'city' takes one GeoNames number.")
            }
            if words[1] == "-" { return .cities }
            return .city(id: try number(words[1], atLeast: 0))
        case "verify":
            guard operands.count == 1 else {
                throw UsageError(description: "'verify' takes one file with a city per line.")
            }
            return .verify(file: words[1])
        case let word?:
            throw UsageError(description: "There is no question '\(word)'.")
        case nil:
            throw UsageError(description: "A question is missing.")
        }
    }

    private static func number(_ text: String, atLeast least: Int) throws(UsageError) -> Int {
        guard let number = Int(text), number >= least else {
            throw UsageError(description: "'\(text)' is not a whole number of \(least) or more.")
        }
        return number
    }
}
