import Foundation
import KeyedArchive
import PropertyLists

/// A form that documents are converted to.
enum DocumentForm: Sendable {
    case binary
    case xml
    case openStep
    case json

    /// The words of `--to`; `plutil`'s words work too.
    static let words: KeyValuePairs<String, DocumentForm> = [
        "binary": .binary, "xml": .xml, "openstep": .openStep, "json": .json, "binary1": .binary, "xml1": .xml,
    ]

    private var name: String {
        switch self {
        case .binary, .xml: "XML property lists"
        case .openStep: "OpenStep property lists"
        case .json: "JSON"
        }
    }

    /// The format of property lists; `nil` for JSON.
    private var listFormat: PropertyListFormat? {
        switch self {
        case .binary: .binary
        case .xml: .xml
        case .openStep: .openStep
        case .json: nil
        }
    }

    /// A document in this form.
    ///
    /// - Throws: the fault of a value that this form has none for, with its path.
    func bytes(of value: PropertyListContent) throws(DocumentFault) -> [UInt8] {
        if let (what, path) = refusal(of: value) {
            throw DocumentFault("\(name) cannot hold \(what), at \(path)")
        }
        guard let format = listFormat else {
            return Array((JSONWriter.text(RecordValue(whole: value), isIndented: true) + "\n").utf8)
        }
        let list = try PropertyList(content: value)
        do throws(PropertyListError) {
            return [UInt8](try list.data(format: format))
        } catch {
            throw DocumentFault(error)
        }
    }

    /// The values that this form holds but in part, in words; `nil` if there are none.
    func loss(of value: PropertyListContent) -> String? {
        guard self == .xml else { return nil }
        var (count, first) = (0, "")
        Self.visit(value) { value, path in
            if case .date(let date) = value, !date.timeIntervalSinceReferenceDate.isWhole {
                if count == 0 { first = path }
                count += 1
            }
            return true
        }
        if count == 0 { return nil }
        return "\(name) have whole seconds: \(count == 1 ? "a date has" : "\(count) dates have") lost a fraction, "
            + (count == 1 ? "at \(first)" : "the first at \(first)")
    }

    /// The first value that this form cannot hold, in words, and where it is; `nil` if it can hold all of them.
    private func refusal(of value: PropertyListContent) -> (what: String, path: String)? {
        if self == .binary { return nil }
        var found: (what: String, path: String)?
        Self.visit(value) { value, path in
            found = refusal(ofOne: value).map { ($0, path) }
            return found == nil
        }
        return found
    }

    /// Calls `body` for each value and its path, in their order, until it returns `false`.
    private static func visit(_ value: PropertyListContent, _ body: (PropertyListContent, String) -> Bool) {
        var pending = [(value: value, path: "root")]
        while let (value, path) = pending.popLast(), body(value, path) {
            switch value {
            case .array(let members), .set(let members):
                for (index, member) in members.enumerated().reversed() {
                    pending.append((member, "\(path).\(index)"))
                }
            case .dictionary(let fields):
                for field in fields.reversed() { pending.append((field.value, "\(path).\(field.key)")) }
            default: break
            }
        }
    }

    /// The kind of the value in words, if this form cannot hold it; the values in it are not looked at.
    private func refusal(ofOne value: PropertyListContent) -> String? {
        switch value {
        case .null: self == .json ? nil : "null"
        case .bool: self == .openStep ? "a Boolean" : nil
        case .integer, .unsigned: self == .openStep ? "a number" : nil
        case .float(let number): refusal(of: Double(number))
        case .real(let number): refusal(of: number)
        case .string(let text): refusal(of: text, "text")
        case .data: self == .json ? "data" : nil
        case .date(let date): refusal(of: date)
        case .array: nil
        case .set: "a set"
        case .dictionary(let fields):
            fields.lazy.compactMap { refusal(of: $0.key, "a key") }.first
                ?? (isLikeReference(fields)
                    ? "a dictionary that would be read as a reference to an object" : nil)
        case .reference: self == .xml ? nil : "a reference to an object of a keyed archive"
        }
    }

    private func refusal(of number: Double) -> String? {
        switch self {
        case .openStep: "a number"
        case .json: number.isFinite ? nil : "a number that is not finite"
        default: nil
        }
    }

    private func refusal(of text: String, _ what: String) -> String? {
        self == .xml && text.utf8.contains(0) ? "\(what) with a zero byte" : nil
    }

    private func refusal(of date: Date) -> String? {
        switch self {
        case .xml:
            CivilDate(flooring: date.timeIntervalSinceReferenceDate)?.hasYearOfFourDigits == true
                ? nil : "a date outside the years 1 to 9999"
        default: "a date"
        }
    }

    private func isLikeReference(_ fields: [PropertyListContent.Field]) -> Bool {
        guard self == .xml, fields.count == 1, fields[0].key == "CF$UID" else { return false }
        if case .integer(let number) = fields[0].value { return UInt32(exactly: number) != nil }
        return false
    }
}

extension TimeInterval {
    fileprivate var isWhole: Bool { self == rounded(.down) }
}
