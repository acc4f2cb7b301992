import Foundation
import KeyedArchive

/// Writes a value as JSON text: fields in their order, so that the same value always gives the same text.
///
/// Dates are ISO 8601, bytes Base64. Numbers that JSON has none for are the strings `"NaN"`, `"Infinity"` and
/// `"-Infinity"`. Characters that could upset a terminal are escaped, which changes nothing for a parser.
struct JSONWriter {
    /// Whether every element and field has a line of its own.
    let isIndented: Bool
    private var text = ""
    /// Where text goes as it becomes long; `nil` keeps all of it.
    private let output: (any TextOutput)?
    private var failure: OutputError?

    /// How much text is held where it goes to an output, in bytes.
    private static let mostHeld = 64 << 10

    private init(isIndented: Bool, output: (any TextOutput)? = nil) {
        self.isIndented = isIndented
        self.output = output
    }

    static func text(_ value: RecordValue, isIndented: Bool) -> String {
        var writer = JSONWriter(isIndented: isIndented)
        writer.append(value, depth: 0)
        return writer.text
    }

    /// Writes the text and a line feed, a piece at a time.
    static func write(_ value: RecordValue, isIndented: Bool, to output: any TextOutput) throws(OutputError) {
        var writer = JSONWriter(isIndented: isIndented, output: output)
        writer.append(value, depth: 0)
        if let failure = writer.failure { throw failure }
        try output.write(writer.text + "\n")
    }

    /// Writes an element of an indented array, without brackets and commas.
    static func element(_ value: RecordValue) -> String {
        var writer = JSONWriter(isIndented: true)
        writer.startLine(depth: 1)
        writer.append(value, depth: 1)
        return writer.text
    }

    /// Writes the held text once it is long.
    private mutating func spill() {
        guard let output, text.utf8.count >= Self.mostHeld else { return }
        do throws(OutputError) {
            if failure == nil { try output.write(text) }
        } catch {
            failure = error
        }
        text = ""
    }

    private mutating func append(_ value: RecordValue, depth: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .int(let number): text += String(number)
        case .uint(let number): text += String(number)
        case .double(let number): append(number)
        case .string(let string): appendQuoted(string)
        case .array(let elements):
            appendList(elements, in: ("[", "]"), depth: depth) { $0.append($1, depth: depth + 1) }
        case .object(let record):
            appendList(record.fields, in: ("{", "}"), depth: depth) { writer, field in
                writer.appendQuoted(field.name)
                writer.text += writer.isIndented ? ": " : ":"
                writer.append(field.value, depth: depth + 1)
            }
        case .date(let date): appendQuoted(InstantText.text(date))
        case .data(let data): append(data)
        case .url(let url): appendQuoted(url.absoluteString)
        case .uuid(let uuid): appendQuoted(uuid.uuidString)
        }
    }

    private mutating func append(_ data: Data) {
        text += "\""
        var rest = data[...]
        while !rest.isEmpty {
            // A multiple of 3, so that the pieces' texts together are the whole's.
            let piece = rest.prefix(48 << 10)
            text += piece.base64EncodedString()
            rest = rest.dropFirst(piece.count)
            spill()
        }
        text += "\""
    }

    private mutating func append(_ number: Double) {
        if number.isFinite {
            text += number.description
        } else if number.isNaN {
            text += "\"NaN\""
        } else {
            text += number < 0 ? "\"-Infinity\"" : "\"Infinity\""
        }
    }

    private mutating func appendList<Element>(
        _ elements: [Element],
        in brackets: (opening: String, closing: String),
        depth: Int,
        appendElement: (inout JSONWriter, Element) -> Void
    ) {
        text += brackets.opening
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            startLine(depth: depth + 1)
            appendElement(&self, element)
            spill()
        }
        if !elements.isEmpty { startLine(depth: depth) }
        text += brackets.closing
    }

    private mutating func startLine(depth: Int) {
        if isIndented { text += "\n" + String(repeating: "  ", count: depth) }
    }

    private mutating func appendQuoted(_ string: String) {
        text += "\""
        var rest = string[...]
        while true {
            // Runs of plain bytes at once: scalar by scalar, a long text takes thirty times as long.
            let run = rest.utf8.prefix(Self.mostHeld).prefix(while: Self.isPlain)
            text += rest[run.startIndex..<run.endIndex]
            rest = rest[run.endIndex...]
            spill()
            if run.isEmpty {
                guard let scalar = rest.unicodeScalars.popFirst() else { break }
                appendQuoted(scalar)
            }
        }
        text += "\""
    }

    /// Whether a byte is a character that is written as it is.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func appendQuoted(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case _ where scalar.isHostile: appendEscaped(scalar)
        default: text.unicodeScalars.append(scalar)
        }
    }

    /// A JSON text with each character that is not ASCII escaped.
    static func ascii(_ json: String) -> String {
        var writer = JSONWriter(isIndented: false)
        for scalar in json.unicodeScalars {
            if scalar.isASCII { writer.text.unicodeScalars.append(scalar) } else { writer.appendEscaped(scalar) }
        }
        return writer.text
    }

    private mutating func appendEscaped(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

/// Writes the elements of an array as they come, as ``JSONWriter`` writes a whole one, indented.
///
/// An array that is not finished stays open, so that no reader takes it for a whole one.
struct JSONArrayWriter {
    private let output: any TextOutput
    private var isEmpty = true

    init(to output: any TextOutput) { self.output = output }

    mutating func append(_ value: RecordValue) throws(OutputError) {
        try output.write((isEmpty ? "[" : ",") + JSONWriter.element(value))
        isEmpty = false
    }

    /// Closes the array, and ends the line.
    func finish() throws(OutputError) { try output.write(isEmpty ? "[]\n" : "\n]\n") }
}
