/// A Codable value type whose name in archives is not its name in Swift: it stays the same for every generic argument, and
/// where the argument's type is renamed.
package protocol NamedInArchives {
    /// The name, in the form `Module.Type`.
    static var archivedName: String { get }
}
