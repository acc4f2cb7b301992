/// A command line that was not understood, in one sentence.
struct UsageError: Error {
    let description: String
}
