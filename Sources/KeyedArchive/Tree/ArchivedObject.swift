import Foundation

/// An object of a class that this process does not have, kept as the archive holds it.
///
/// ``KeyedUnarchiver`` makes these where ``KeyedUnarchiver/keepsUnknownClasses`` asks for it, and
/// ``KeyedArchiver`` writes them back with the same class, keys and values:
///
/// ```swift
/// let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Document.self])
/// unarchiver.keepsUnknownClasses = true
/// let document = unarchiver.decodeObject(forKey: "root") as? Document
/// try unarchiver.finishDecoding()
/// let colour = document?.background as? ArchivedObject    // an NSColor, say
/// colour?["NSColorSpace"]                                 // 1
/// ```
///
/// One object of the archive is one `ArchivedObject`, however often it is referred to, and objects may refer to
/// each other in circles. Such a circle keeps itself alive: empty the ``fields`` of one of its objects when it is
/// not needed any longer.
public final class ArchivedObject: NSObject {
    /// The value of a field. A reference is the object that is referred to, as
    /// ``KeyedUnarchiver/decodeObject(forKey:)`` gives it; `nil` for nil.
    public typealias Value = PropertyListValue<Any?>

    /// A named value of an object.
    public typealias Field = Value.Field

    /// The class that the archive names for the object. (`classDescription` is a property of `NSObject` on macOS.)
    public let describedClass: ArchiveTree.ClassDescription
    /// The object's fields but the class, in their order.
    public var fields: [Field]

    /// Makes an object of a class that this process need not have, to be archived.
    ///
    /// - Parameters:
    ///   - describedClass: the description of the object's class, as the archive is to have it.
    ///   - fields: each key once; none is `$class`.
    public init(describedClass: ArchiveTree.ClassDescription, fields: [Field] = []) {
        self.describedClass = describedClass
        self.fields = fields
        super.init()
    }

    /// The value under a key as the class gave it: the object that is referred to, or an inline value as
    /// `Bool`, `Int64`, `UInt64`, `Float`, `Double`, `String`, `Data`, `Date` or ``Value``; `nil` if there is
    /// none, or if it is nil. O(*n*) in the fields.
    public subscript(name: String) -> Any? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return switch field.value {
        case .reference(let object): object
        case .bool(let value): value
        case .integer(let value): value
        case .unsigned(let value): value
        case .float(let value): value
        case .real(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array, .set, .dictionary: field.value
        case .null: nil
        }
    }

    /// The class and the names of the fields.
    public override var description: String {
        let names = fields.map { EscapedText($0.name).description }.joined(separator: ", ")
        return "<\(EscapedText(describedClass.name)): \(names)>"
    }
}
