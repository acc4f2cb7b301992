import KeyedArchive

/// Why a command line cannot be understood: facts alone, the sentence is ``ArgumentErrorMessage``'s.
struct ArgumentError: Error, Sendable, Equatable {
    enum Fact: Sendable, Equatable {
        case missingSubcommand
        case unknownSubcommand(String, suggestion: String?)
        case unknownOption(String, suggestion: String?)
        /// The option was the last argument, or another option followed.
        case missingValue(option: String, placeholder: String)
        case unexpectedValue(option: String)
        case repeatedOption(String)
        case badValue(option: String, InvalidValue)
        case missingOption(String)
        case conflictingOptions(String, String)
        case missingOperand(String)
        /// A server is given to a subcommand that works on this machine's caches alone, by an option or a variable.
        case localOnly(String)
        /// An option that is for caches on servers.
        case needsServer(option: String)
        /// The URL of a server cannot be used; the reason, without its password.
        ///
        /// - Parameter origin: the option or variable that gives it.
        case unusableServer(String, origin: String)
        /// - Parameter suggestion: the option that the operand may be meant for.
        case unexpectedOperand(String, suggestion: String? = nil)
        /// An option that is for one operand alone.
        ///
        /// - Parameter alternative: the option that is for several.
        case tooManyOperands(option: String, placeholder: String, alternative: String? = nil)
        /// The results of two operands would be written to one file.
        case repeatedTarget(String)
        /// An argument's bytes are not text, counted from 1.
        case notUTF8(position: Int)
    }

    let fact: Fact
    /// The name of the subcommand; `nil` if the command line did not come to one.
    var subcommand: String?
}

/// Writes the sentence for a command line that cannot be understood: the fault and the remedy.
struct ArgumentErrorMessage: CustomStringConvertible {
    let error: ArgumentError

    init(_ error: ArgumentError) {
        self.error = error
    }

    var description: String { "\(sentence); \(advice)" }

    private var sentence: String {
        switch error.fact {
        case .missingSubcommand:
            "a subcommand is missing"
        case .unknownSubcommand(let name, _):
            "unknown subcommand \(quoted(name))"
        case .unknownOption(let option, _):
            "unknown option \(quoted(option))"
        case .missingValue(let option, let placeholder):
            "\(option) needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option):
            "\(option) takes no value"
        case .repeatedOption(let option):
            "\(option) is given twice"
        case .badValue(let option, let invalid):
            "\(option): expected \(invalid.expected), not \(quoted(invalid.part))"
        case .missingOption(let form):
            "\(form) is missing"
        case .conflictingOptions(let one, let other):
            "\(one) and \(other) exclude each other"
        case .missingOperand(let placeholder):
            "\(placeholder) is missing"
        case .localOnly(let word):
            "\(error.subcommand ?? "this") works on this machine's caches alone, and \(word) names a server"
        case .needsServer(let option):
            "\(option) is for caches on a server, and none is given by --shared or \(PlaceOptions.variable)"
        case .unusableServer(let reason, let origin):
            "\(origin): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)"
        case .unexpectedOperand(let text, _):
            "unexpected argument \(quoted(text))"
        case .tooManyOperands(let option, let placeholder, _):
            "\(option) takes one \(placeholder)"
        case .repeatedTarget(let path):
            "\(EscapedText(path)) would be written twice"
        case .notUTF8(let position):
            "argument \(position) is not UTF-8"
        }
    }

    private var advice: String {
        switch error.fact {
        case .unknownSubcommand(_, let suggestion?), .unknownOption(_, let suggestion?),
            .unexpectedOperand(_, let suggestion?):
            "did you mean \(suggestion)?"
        case .tooManyOperands(_, _, let alternative?):
            "for several see \(alternative)"
        case .localOnly(let word) where word == PlaceOptions.variable:
            "use --root or --app, or unset it"
        case .unusableServer: "write redis://user:password@host:6379/?prefix=NAME"
        case .localOnly: "\(Command.namesOfSharing) take it"
        case .notUTF8: "keys and paths are text"
        default:
            "see typed-cache help\(error.subcommand.map { " \($0)" } ?? "")"
        }
    }

    private func quoted(_ text: String) -> String { "'\(EscapedText(text, limit: 80))'" }
}

/// Finds the name that a mistyped word most likely stands for.
enum Suggestion {
    /// The candidate that is nearest to `text`, if it is near; the first one of several.
    static func nearest(to text: String, among candidates: [String]) -> String? {
        // A typing error does not make a name ten times as long, and the time for a distance is the product of both
        // lengths.
        guard text.count <= 40 else { return nil }
        let ranked = candidates.map { ($0, distance(from: text, to: $0)) }
        guard let (candidate, distance) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= max(1, candidate.count / 3) ? candidate : nil
    }

    /// How many characters must be inserted, deleted, replaced or swapped with their neighbour to make `other`
    /// of `text` (the restricted Damerau–Levenshtein distance).
    static func distance(from text: String, to other: String) -> Int {
        let from = Array(text)
        let to = Array(other)
        var beforeLast = [Int](repeating: 0, count: to.count + 1)
        var last = Array(0...to.count)
        for (row, character) in from.enumerated() {
            var current = [row + 1]
            for (column, target) in to.enumerated() {
                var least = min(
                    last[column + 1] + 1,
                    current[column] + 1,
                    last[column] + (character == target ? 0 : 1)
                )
                if row > 0, column > 0, character == to[column - 1], from[row - 1] == target {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }
}
