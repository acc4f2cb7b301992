/// A command line that cannot be followed.
package struct UsageError: Error, Equatable {
    /// A sentence for people.
    package let message: String
}
