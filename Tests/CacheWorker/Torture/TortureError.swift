/// Why the torture could not go on; or what a child did not do.
struct TortureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
