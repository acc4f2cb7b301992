/// A Codable value type with another name in archives than in Swift: that name is the same for every generic
/// argument, and stays the same where the argument's type is renamed.
package protocol NamedInArchives {
    /// The name, in the form `Module.Type`.
    static var archivedName: String { get }
}
