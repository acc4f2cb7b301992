/// One field that records must have, or may have: `name:type` or `name:type?`.
package struct FieldDeclaration: Sendable, Equatable {
    package let name: String
    package let type: FieldType
    /// Whether it may be missing, null, or an empty column.
    package let isOptional: Bool
}
