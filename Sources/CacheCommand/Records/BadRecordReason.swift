/// Why a record cannot be taken: facts alone, the sentence is `BadRecordMessage`'s.
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
