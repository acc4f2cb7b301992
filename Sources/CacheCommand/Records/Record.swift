/// Named values in the order in which their source wrote them.
package struct Record: Sendable, Equatable {
    package var fields: [RecordField]

    package init(fields: [RecordField] = []) {
        self.fields = fields
    }

    /// The value of the field named `name`, or `nil` if there is none.
    ///
    /// - Complexity: O(*n*) in the number of fields: records are short, and a dictionary for each costs more.
    package subscript(name: String) -> RecordValue? {
        fields.first { $0.name == name }?.value
    }
}
