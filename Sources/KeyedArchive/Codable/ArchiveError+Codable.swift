extension ArchiveError {
    /// The archive's view of an error in the standard library's words.
    init(_ error: DecodingError) {
        let (code, context): (Code, DecodingError.Context) =
            switch error {
            case .typeMismatch(_, let context): (.typeMismatch, context)
            case .valueNotFound(_, let context): (.missingValue, context)
            case .keyNotFound(let key, let context):
                (
                    .missingValue,
                    DecodingError.Context(
                        codingPath: context.codingPath + [key],
                        debugDescription: "no value"
                    )
                )
            case .dataCorrupted(let context):
                ((context.underlyingError as? ArchiveError)?.code ?? .decodingFailed, context)
            @unknown default: (.decodingFailed, DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        self.init(
            code,
            context.debugDescription,
            offset: (context.underlyingError as? ArchiveError)?.offset,
            keyPath: context.codingPath.map(\.stringValue),
            cause: error
        )
    }
}
