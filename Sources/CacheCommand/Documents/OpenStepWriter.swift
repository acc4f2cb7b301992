import Foundation
import KeyedArchive

/// Writes a property list as OpenStep had them: strings, data, arrays and dictionaries alone.
///
///     { name = "Leo the lion"; tags = ( one, two ); picture = <0fbd7771>; }
///
/// Strings without quotes are of letters, digits and underscores. In quotes, anything beyond ASCII is `\U` and the four
/// hexadecimal digits of a UTF-16 unit.
struct OpenStepWriter {
    private var text = ""

    /// - Parameter value: of strings, data, arrays and dictionaries.
    static func text(_ value: PropertyListContent.Value) -> String {
        var writer = OpenStepWriter()
        writer.append(value, indent: "")
        return writer.text + "\n"
    }

    private mutating func append(_ value: PropertyListContent.Value, indent: String) {
        let inner = indent + "    "
        switch value {
        case .string(let string): append(string)
        case .data(let data):
            text += "<"
            for byte in data {
                if byte < 16 { text += "0" }
                text += String(byte, radix: 16)
            }
            text += ">"
        case .array(let members), .set(let members):
            text += "("
            for (index, member) in members.enumerated() {
                text += index == 0 ? "\n" : ",\n"
                text += inner
                append(member, indent: inner)
            }
            text += members.isEmpty ? ")" : "\n\(indent))"
        case .dictionary(let fields):
            text += "{"
            for field in fields {
                text += "\n" + inner
                append(field.key)
                text += " = "
                append(field.value, indent: inner)
                text += ";"
            }
            text += fields.isEmpty ? "}" : "\n\(indent)}"
        case .null, .bool, .integer, .unsigned, .float, .real, .date, .reference:
            preconditionFailure("a value that was to be refused")
        }
    }

    private mutating func append(_ string: String) {
        let isPlain = string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        if isPlain, !string.isEmpty {
            text += string
            return
        }
        text += "\""
        for unit in string.utf16 {
            switch unit {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x0A: text += "\\n"
            case 0x0D: text += "\\r"
            case 0x09: text += "\\t"
            case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                text += "\\U" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        text += "\""
    }
}
