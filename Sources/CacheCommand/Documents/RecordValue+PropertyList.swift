import KeyedArchive

extension RecordValue {
    /// A property list with all values in it, each of which JSON can hold.
    init(whole value: PropertyListContent) {
        self =
            switch value {
            case .array(let members), .set(let members): .array(members.map { RecordValue(whole: $0) })
            case .dictionary(let fields):
                .object(
                    Record(fields: fields.map { RecordField(name: $0.key, value: RecordValue(whole: $0.value)) })
                )
            default: RecordValue(value)
            }
    }
}
