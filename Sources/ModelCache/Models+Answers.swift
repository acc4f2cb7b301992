import Foundation

// Answers that come by no fetch.

extension Models {
    /// Decodes data that came by no fetch, a push or a file say, as an answer's body is decoded: whole models in the place of
    /// links become models of their own.
    ///
    /// These are saved as ``save(_:)-(Model)`` saves models, but that their disk is not waited for: answers to requests that were
    /// sent before do not replace them. The value itself is not saved.
    ///
    /// - Parameters:
    ///   - type: the value's type; of a model to save, say.
    ///   - data: JSON, for the decoder that the cache was opened with.
    ///   - path: as for ``ModelBody/decode(_:at:)``.
    /// - Throws: `DecodingError`; ``ModelCacheError`` with code `.storage`, `.unknownModel`, `.closed`.
    public nonisolated(nonsending) func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        at path: String...
    ) async throws -> Value {
        let start = try await engine.tables.beginRequest()
        return try await engine.changes.decode(type, from: data, at: path, since: start)
    }

    /// Decodes the answer to a request of the program's own, a POST say. All else is as for data.
    ///
    /// ```swift
    /// let posted = try await models.decode(Comment.self) { try await api.post(text) }
    /// ```
    ///
    /// Models in the place of links have the order of a fetch that began with this call: they do not replace models that
    /// were saved or requested since.
    ///
    /// - Parameters:
    ///   - type: the value's type.
    ///   - path: as for ``ModelBody/decode(_:at:)``.
    ///   - send: sends the request, and returns the body of its answer.
    /// - Throws: errors of `send` as well.
    public nonisolated(nonsending) func decode<Value: Decodable>(
        _ type: Value.Type,
        at path: String...,
        sending send: nonisolated(nonsending) () async throws -> Data
    ) async throws -> Value {
        let start = try await engine.tables.beginRequest()
        return try await engine.changes.decode(type, from: try await send(), at: path, since: start)
    }
}
