import Foundation

extension ModelEngine {
    /// Decodes an answer that came by no fetch, and merges the models of its links.
    nonisolated(nonsending) func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        at path: [String],
        asOf revision: Revision
    ) async throws -> Value {
        let body = ModelBody(data, decoder: makeDecoder)
        let value = try body.decode(type, at: path)
        var arrivals = Arrivals()
        arrivals.add(body.nested)
        if !arrivals.groups.isEmpty { try await merge(arrivals, ArrivalState(pushedAt: clock.now, asOf: revision)) }
        return value
    }
}
