/// The state of one object while it decodes itself; the objects around it keep theirs.
struct DecodingFrame {
    /// The object's keys.
    var scope: ArchiveScope
    /// The object's place; `nil` outside all objects, where the keys are those of the outermost scope.
    let place: UInt32?
    /// How many levels lie around the object's values.
    let depth: Int
    /// Whether strings, numbers, dates, collections, … are allowed without being named.
    ///
    /// A value that an object asks for without naming a class may be of any kind.
    var allowsFoundationValues = true
    /// The error that an accessor threw to the object's `init(coder:)`, which may have caught it: it counts if the
    /// initializer returns `nil`.
    var thrown: ArchiveError?

    init(_ fields: BinaryPropertyList.Fields, place: UInt32?, depth: Int) {
        scope = ArchiveScope(fields)
        self.place = place
        self.depth = depth
    }
}
