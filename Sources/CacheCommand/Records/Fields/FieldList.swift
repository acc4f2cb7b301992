/// The declared fields of a record: selects them, in their order, and reads each as its type.
package struct FieldList: Sendable, Equatable {
    package let fields: [FieldDeclaration]

    package init(_ fields: [FieldDeclaration]) {
        self.fields = fields
    }

    /// Parses `a:double,b:string?`.
    init(parsing text: String) throws(InvalidValue) {
        var fields: [FieldDeclaration] = []
        var names: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let field = try FieldDeclaration(parsing: part)
            guard names.insert(field.name).inserted else {
                throw InvalidValue(String(part), expected: "each field once")
            }
            fields.append(field)
        }
        self.fields = fields
    }

    /// The declared fields of `record`; those that may be missing and are, or are null, are left out.
    ///
    /// - Parameter isText: whether strings are to be read as the text of every type, as columns of CSV are.
    func select(from record: Record, isText: Bool) throws(BadRecordReason) -> Record {
        var selected = Record()
        selected.fields.reserveCapacity(fields.count)
        for field in fields {
            let value = record[field.name]
            guard let value, !isAbsent(value, field, isText: isText) else {
                guard field.isOptional else { throw absence(of: field, value: value) }
                continue
            }
            guard let fit = FieldCoercion(type: field.type, isText: isText).value(of: value) else {
                throw unfit(field, value)
            }
            selected.fields.append(RecordField(name: field.name, value: fit))
        }
        return selected
    }

    private func isAbsent(_ value: RecordValue, _ field: FieldDeclaration, isText: Bool) -> Bool {
        switch value {
        case .null: true
        case .string(let text): isText && field.isOptional && text.isEmpty
        default: false
        }
    }

    private func absence(of field: FieldDeclaration, value: RecordValue?) -> BadRecordReason {
        value.map { unfit(field, $0) } ?? .missingField(field.name)
    }

    private func unfit(_ field: FieldDeclaration, _ value: RecordValue) -> BadRecordReason {
        var excerpt: String?
        if case .string(let text) = value { excerpt = SafeText(text, limit: 40).description }
        return .unfitField(field.name, type: field.type, found: RecordKind(value), excerpt: excerpt)
    }
}

extension FieldDeclaration {
    fileprivate init(parsing part: Substring) throws(InvalidValue) {
        guard let colon = part.lastIndex(of: ":"), colon != part.startIndex else {
            throw InvalidValue(String(part), expected: "name:type")
        }
        var word = part[part.index(after: colon)...]
        let isOptional = word.last == "?"
        if isOptional { word.removeLast() }
        guard let type = FieldType(rawValue: String(word)) else {
            let types = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidValue(String(part), expected: "a type that is one of \(types)")
        }
        self.init(name: String(part[..<colon]), type: type, isOptional: isOptional)
    }
}
