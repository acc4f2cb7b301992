/// The error that a coder throws at the end: the first that was recorded.
///
/// The methods of `NSCoder`, and the coding methods of objects that call them, cannot throw, so an error is recorded
/// where it comes up. From then on nothing is coded any longer.
package struct FirstError {
    package private(set) var error: ArchiveError?

    package var isSet: Bool { error != nil }

    package init() {}

    package mutating func record(_ next: @autoclosure () -> ArchiveError) {
        if error == nil { error = next() }
    }

    /// Names the key under which the error came up, from the inside out.
    package mutating func locate(within key: String) {
        if let found = error { error = found.within(key) }
    }
}
