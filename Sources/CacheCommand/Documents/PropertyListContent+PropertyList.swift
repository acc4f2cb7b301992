import KeyedArchive
import PropertyLists

extension PropertyListContent {
    init(_ list: PropertyList) {
        self =
            switch list.value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .unsigned(let value): .unsigned(value)
            case .real(let value): .real(value)
            case .date(let value): .date(value)
            case .data(let value): .data(value)
            case .string(let value): .string(value)
            case .uid(let value): .reference(Int(value))
            case .array(let members): .array(members.map { Self($0) })
            case .set(let members): .set(members.map { Self($0) })
            case .dictionary(let entries):
                .dictionary(entries.map { Field(key: $0.key, value: Self($0.value)) })
            }
    }

    /// The value with references as XML writes them, for a list that has no objects to refer to.
    var withoutReferences: Self {
        switch self {
        case .reference(let place): .dictionary([Field(key: "CF$UID", value: .integer(Int64(place)))])
        case .array(let members): .array(members.map(\.withoutReferences))
        case .set(let members): .set(members.map(\.withoutReferences))
        case .dictionary(let fields):
            .dictionary(fields.map { Field(key: $0.key, value: $0.value.withoutReferences) })
        default: self
        }
    }
}
