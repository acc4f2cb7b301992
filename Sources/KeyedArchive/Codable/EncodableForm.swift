/// The way in which a Codable type is archived.
struct EncodableForm: TypeEntry {
    let kind: CodableKind
    /// The class that the type's objects have, if they are objects of their own.
    let info: ArchivedClass

    init(_ type: Any.Type) {
        kind = CodableKind(type)
        info = .of(type)
    }
}
