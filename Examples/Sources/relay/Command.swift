/// A request of the parent to its child, a Codable value in each message.
enum Command: Codable, Sendable {
    /// The animals of a genus, as one graph of objects.
    case list(genus: String)
    /// Animals without end.
    case parade
    /// An end in the middle of an answer.
    case die
    /// Bytes that are not a message.
    case babble
}
