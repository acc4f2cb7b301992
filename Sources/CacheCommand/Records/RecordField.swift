/// One field of a record.
package struct RecordField: Sendable, Equatable {
    package var name: String
    package var value: RecordValue

    package init(name: String, value: RecordValue) {
        self.name = name
        self.value = value
    }
}
