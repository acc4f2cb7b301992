/// Writes the sentence for a record that cannot be taken.
struct BadRecordMessage: CustomStringConvertible {
    let badRecord: BadRecord

    init(_ badRecord: BadRecord) {
        self.badRecord = badRecord
    }

    var description: String { "line \(badRecord.line): \(sentence)" }

    private var sentence: String {
        switch badRecord.reason {
        case .json(let error):
            "byte \(error.offset + 1) of the record: \(error.code.phrase)"
        case .notAnObject(let found):
            "a record must be an object, this is \(found.phrase)"
        case .tooLong(let limit):
            "the record is longer than \(ByteText(limit))"
        case .invalidUTF8:
            "the record is not UTF-8 text"
        case .missingElement:
            "an element of the array is missing before this comma or bracket"
        case .fieldCount(let found, let expected):
            "\(found) \(found == 1 ? "field" : "fields") where the header names \(expected)"
        case .csv(let error, let column):
            "field \(column): \(error.phrase)"
        case .missingField(let name):
            "field \(quoted(name)) is missing; declare it with a ? if it may be"
        case .unfitField(let name, let type, let found, let excerpt):
            "field \(quoted(name)): expected \(type.phrase), found \(found.phrase)"
                + (excerpt.map { " \"\($0)\"" } ?? "")
        case .missingKey(let field):
            "the key field \(quoted(field)) is missing"
        case .unfitKey(let field, let found):
            "the key field \(quoted(field)) must hold a string or a whole number, not \(found.phrase)"
        case .emptyKey(let field):
            "the key field \(quoted(field)) is empty"
        case .longKey(let field, let bytes, let limit):
            "the key field \(quoted(field)) holds \(bytes) bytes, a key has at most \(limit)"
        case .rejected(let words):
            SafeText(words, limit: 300).description
        }
    }

    private func quoted(_ name: String) -> String { "\"\(SafeText(name, limit: 80))\"" }
}
