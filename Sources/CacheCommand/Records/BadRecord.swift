import KeyedArchive

/// A record that cannot be taken, and why; the ones after it can.
struct BadRecord: Error, Sendable, Equatable {
    /// The line on which the record begins, from 1.
    let line: Int
    let reason: BadRecordReason
}

/// Why a record cannot be taken: facts alone, the sentence is ``BadRecordMessage``'s.
enum BadRecordReason: Error, Sendable, Equatable {
    /// Its text is not JSON.
    case json(JSONError)
    /// It is JSON, but no object.
    case notAnObject(found: RecordKind)
    /// Its text is longer than `limit` bytes.
    case tooLong(limit: Int)
    /// Its text is not UTF-8.
    case invalidUTF8
    /// A comma or bracket stands where an element of the array should.
    case missingElement
    /// It has more or fewer fields than the header names.
    case fieldCount(found: Int, expected: Int)
    /// It breaks the rules of quoting, in its `column`th field from 1.
    case csv(CSVError, column: Int)
    /// A declared field that must be there is not.
    case missingField(String)
    /// A field's value is not of its declared type; `excerpt` is at most 40 escaped characters of it.
    case unfitField(String, type: FieldType, found: RecordKind, excerpt: String?)
    /// The field that holds the key is not there.
    case missingKey(field: String)
    /// The key is neither a string nor a whole number.
    case unfitKey(field: String, found: RecordKind)
    /// The key has no bytes.
    case emptyKey(field: String)
    /// The key has more bytes than a key may have.
    case longKey(field: String, bytes: Int, limit: Int)
    /// The cache does not take it, in the words of the cache.
    case rejected(String)
}

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
            "the record is not UTF-8 text; convert Latin-1 first: iconv -f latin1 -t utf-8 FILE | typed-cache warm -"
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
            EscapedText(words, limit: 300).description
        }
    }

    private func quoted(_ name: String) -> String { "\"\(EscapedText(name, limit: 80))\"" }
}
