/// One object or value of an archive, and what hangs on it.
package struct ArchiveNode: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// A value that stands for itself.
        case value(RecordValue)
        /// An object of the class named `type`; `identifier` is its number within the archive.
        case object(type: String, identifier: Int, children: [ArchiveNode])
        /// A list or dictionary that is no object of its own.
        case list([ArchiveNode])
        /// An object that has been shown already: graphs may share and may run in circles.
        case reference(identifier: Int)
    }

    /// The key or index under which its parent holds it.
    package let label: String
    package let content: Content

    package init(label: String, content: Content) {
        self.label = label
        self.content = content
    }
}
