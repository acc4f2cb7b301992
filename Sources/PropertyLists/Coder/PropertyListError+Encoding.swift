extension PropertyListError {
    /// The error of an encoder for a value that has no form in a list.
    func encodingError(of value: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            value,
            .init(
                codingPath: path,
                debugDescription: "Unable to encode the value as property list: \(message).",
                underlyingError: self
            )
        )
    }
}
