/// A question that could not be answered, in one sentence.
struct AtlasError: Error {
    let description: String
}
