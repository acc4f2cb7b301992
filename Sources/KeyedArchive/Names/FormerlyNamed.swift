/// A type that archives know by other names too: it was renamed, or moved to another module.
///
/// ```swift
/// struct Record: Codable, FormerlyNamed {
///     static let formerNames = ["Player.Album"]
///     var title: String
/// }
/// ```
///
/// If an archive's root has a former name of the type asked for, the archive is read as if its root had the type's
/// own name. The same holds for an object with a former name of an expected class. New archives have the present
/// name. Codable values inside other values need no former names: their types are not compared.
///
/// A present name goes before a former one: if another expected class has the name now, the object is of that class.
public protocol FormerlyNamed {
    /// The type's names in archives of earlier versions, with their modules: `Player.Album`. None by default.
    ///
    /// Asked for only where an archive has another name than the present one.
    static var formerNames: [String] { get }
}

extension FormerlyNamed {
    public static var formerNames: [String] { [] }

    /// All names that archives have for the type, the present one first.
    ///
    /// For the former names of generic types, which contain the names of their arguments:
    ///
    /// ```swift
    /// extension Page: FormerlyNamed where Item: FormerlyNamed {
    ///     static var formerNames: [String] { Item.archivedNames.map { "Player.Page<\($0)>" } }
    /// }
    /// ```
    public static var archivedNames: [String] { [ArchivedClass.of(Self.self).name] + formerNames }

    /// Whether a name is a former one. The modules of Foundation's types in it make no difference.
    static func hadName(_ name: String) -> Bool {
        let name = ClassNames.portable(name)
        return formerNames.contains { ClassNames.portable($0) == name }
    }
}

/// More names that the class of a root may have; asked for only where it has another name than its type's.
package struct FormerRootNames {
    private let type: Any.Type
    private let names: (Any.Type) -> [String]

    /// - Parameter names: the former names of `type`. Not the names themselves, nor a protocol that the type adopts: this is
    ///   made for each archive that is decoded.
    package init(of type: Any.Type, _ names: @escaping (Any.Type) -> [String]) {
        self.type = type
        self.names = names
    }

    /// Whether a name is among them. The modules of Foundation's types in it make no difference.
    func contain(_ name: String) -> Bool {
        let name = ClassNames.portable(name)
        return names(type).contains { ClassNames.portable($0) == name }
    }
}

/// Whether a type had a name before. A class does not have the former names of its superclass.
func isFormerName(_ name: String, of type: Any.Type) -> Bool {
    guard let renamed = type as? any FormerlyNamed.Type, renamed.hadName(name) else { return false }
    guard let superclass = anyClass(type).flatMap(_getSuperclass) else { return true }
    return !isFormerName(name, of: superclass)
}
