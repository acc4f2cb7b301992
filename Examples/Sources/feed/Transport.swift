import Foundation
import ModelCache

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// To be replaced by `URLSessionTransport(base:)` of the product ModelCacheHTTP.
struct Transport: ModelTransport {
    let base: URL
    private let session: URLSession

    init(base: URL) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        var components = URLComponents(url: base.appending(path: request.path), resolvingAgainstBaseURL: true)
        if !request.query.isEmpty { components?.queryItems = request.query }
        guard let url = components?.url else { throw URLError(.badURL) }
        var sent = URLRequest(url: url)
        sent.httpMethod = request.method
        for (name, value) in request.headers.all { sent.setValue(value, forHTTPHeaderField: name) }
        if !request.body.isEmpty { sent.httpBody = request.body }
        let (body, response) = try await session.data(for: sent)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let headers = response.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
        }
        return ModelResponse(status: response.statusCode, headers: ModelHeaders(headers), body: body)
    }
}
