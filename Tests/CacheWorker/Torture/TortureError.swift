/// The reason why the torture could not go on, or the failure of a child.
struct TortureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
