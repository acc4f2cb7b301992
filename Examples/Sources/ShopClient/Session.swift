import ModelCache

/// The user's token, with the request for a new one.
package actor Session {
    private var token: String
    private var refreshing: Task<String, any Error>?
    private let refresh: @Sendable () async throws -> String

    init(token: String, refresh: @escaping @Sendable () async throws -> String) {
        self.token = token
        self.refresh = refresh
    }

    func current() async throws -> String { try await refreshing?.value ?? token }

    /// A valid token, asked for once for all requests that find one expired.
    func replacement(of expired: String) async throws -> String {
        if let refreshing { return try await refreshing.value }
        if token != expired { return token }
        let task = Task { [refresh] in try await refresh() }
        refreshing = task
        defer { refreshing = nil }
        token = try await task.value
        return token
    }
}

/// Adds the token to each request, and repeats a request with a new one where it has expired.
struct AuthorizedTransport<Base: ModelTransport>: ModelTransport {
    let base: Base
    let session: Session

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let token = try await session.current()
        let response = try await send(request, token)
        guard response.status == 401 else { return response }
        return try await send(request, try await session.replacement(of: token))
    }

    private func send(_ request: ModelRequest, _ token: String) async throws -> ModelResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        return try await base.send(request)
    }
}
