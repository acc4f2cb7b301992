/// Fifty fields of many kinds, three of which are read again.
final class ThreeFieldsRecord: Record {
    override class var fieldsToRead: [(key: String, value: RecordField)] { RecordField.some }
}
