import Foundation

/// A command line of bash or zsh up to the cursor, split into words as the shell would split it.
///
/// Quotes of all kinds are understood, also one that is still open, and `~/` and variables of the environment are
/// replaced. Everything else that a shell replaces, commands above all, stays as it is: completing runs nothing.
struct ShellWords {
    /// The quotes that are open at the end of a word.
    enum Quote: Equatable {
        case none
        case single
        case double
        /// `$'…'`
        case escaped
    }

    struct Word: Equatable {
        /// The meaning of the text.
        var text = ""
        /// As it was typed.
        var typed = ""
        var quote = Quote.none
    }

    /// The last one is the word at the cursor, which may be empty.
    private(set) var words: [Word] = []

    private let variables: [String: String]

    init(_ line: String, variables: [String: String] = ProcessInfo.processInfo.environment) {
        self.variables = variables
        split(Array(line.unicodeScalars))
    }

    private mutating func split(_ line: [Unicode.Scalar]) {
        var word = Word()
        var isInWord = false
        var position = 0
        while position < line.count {
            let start = position
            let scalar = line[position]
            position += 1
            switch word.quote {
            case .none where scalar == " " || scalar == "\t" || scalar == "\n":
                if isInWord { words.append(word) }
                word = Word()
                isInWord = false
                continue
            case .none where scalar == "'": word.quote = .single
            case .none where scalar == "\"", .double where scalar == "\"":
                word.quote = word.quote == .none ? .double : .none
            case .single where scalar == "'", .escaped where scalar == "'": word.quote = .none
            case .none where scalar == "$" && position < line.count && line[position] == "'":
                word.quote = .escaped
                position += 1
            case .none where scalar == "\\" && position < line.count:
                // Before the end of a line it joins lines.
                if line[position] != "\n" { word.text.unicodeScalars.append(line[position]) }
                position += 1
            case .double
            where scalar == "\\" && position < line.count && "$`\"\\".unicodeScalars.contains(line[position]):
                word.text.unicodeScalars.append(line[position])
                position += 1
            case .escaped where scalar == "\\" && position < line.count:
                word.text.unicodeScalars.append(Self.escaped(line, &position))
            case .none where scalar == "$", .double where scalar == "$":
                word.text += variable(line, &position) ?? "$"
            case .none where scalar == "~" && !isInWord && (position == line.count || line[position] == "/"):
                word.text += variables["HOME"] ?? "~"
            default: word.text.unicodeScalars.append(scalar)
            }
            isInWord = true
            for typed in line[start..<position] { word.typed.unicodeScalars.append(typed) }
        }
        words.append(word)
    }

    /// The variable after a dollar sign; `nil` if there is none.
    private func variable(_ line: [Unicode.Scalar], _ position: inout Int) -> String? {
        var end = position
        let isBraced = end < line.count && line[end] == "{"
        if isBraced { end += 1 }
        var name = ""
        while end < line.count, line[end].isASCII,
            line[end] == "_" || line[end].properties.isAlphabetic
                || !name.isEmpty
                    && line[end].properties.numericType != nil
        {
            name.unicodeScalars.append(line[end])
            end += 1
        }
        if isBraced {
            guard end < line.count, line[end] == "}" else { return nil }
            end += 1
        }
        guard let value = variables[name] else { return nil }
        position = end
        return value
    }

    /// The character after a backslash in `$'…'`, for the escapes that ``ShellQuoting`` and the shells write.
    private static func escaped(_ line: [Unicode.Scalar], _ position: inout Int) -> Unicode.Scalar {
        let scalar = line[position]
        position += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "e", "E": return "\u{1B}"
        case "0"..."7":
            var value = scalar.value - 48
            var count = 1
            while count < 3, position < line.count, ("0"..."7").contains(line[position]) {
                value = value * 8 + line[position].value - 48
                position += 1
                count += 1
            }
            return Unicode.Scalar(UInt8(truncatingIfNeeded: value))
        default: return scalar
        }
    }
}

/// Writes the rest of a word for bash, after its typed part.
struct ShellQuoting: CustomStringConvertible {
    let description: String

    /// - Parameter quote: the quotes that are open before it.
    init(_ text: some StringProtocol, within quote: ShellWords.Quote) {
        var written = ""
        for scalar in text.unicodeScalars {
            written += Self.sequence(for: scalar, within: quote)
        }
        description = written
    }

    private static func sequence(for scalar: Unicode.Scalar, within quote: ShellWords.Quote) -> String {
        if scalar.value < 0x20 || scalar.value == 0x7F {
            let control = control(scalar)
            switch quote {
            case .none: return "$'\(control)'"
            case .single: return "'$'\(control)''"
            case .double: return "\"$'\(control)'\""
            case .escaped: return control
            }
        }
        switch quote {
        case .none:
            let isPlain =
                !scalar.isASCII || scalar.properties.isAlphabetic
                || "0123456789-_./:@%+,=".unicodeScalars.contains(scalar)
            return isPlain ? String(scalar) : "\\\(scalar)"
        case .single: return scalar == "'" ? "'\\''" : String(scalar)
        // An exclamation mark between double quotes is one of the history, even after a backslash.
        case .double where scalar == "!": return "\"'!'\""
        case .double: return "$`\"\\".unicodeScalars.contains(scalar) ? "\\\(scalar)" : String(scalar)
        case .escaped: return scalar == "'" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
        }
    }

    private static func control(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\t": return "\\t"
        case "\r": return "\\r"
        default:
            let digits = String(scalar.value, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
    }
}
