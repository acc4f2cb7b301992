import Foundation

/// What an answer says of how long it may be used, by the rules of a private cache (RFC 9111, RFC 5861).
struct ResponseLifetime: Hashable, Sendable {
    /// Whether it may be kept at all.
    var isStored = true
    /// How long it is fresh from now on; `nil`: the answer does not say.
    var fresh: Duration?
    var staleWhileRevalidate: Duration = .zero
    /// How long it may be served after that if loading fails; `nil`: the answer does not say.
    var staleIfError: Duration?
    var validators: Validators?
    /// The request headers that the answer depends on, with their values; `*` for more than headers.
    var varying: [String: String] = [:]

    /// - Parameters:
    ///   - requestedAt: when the request was sent.
    ///   - receivedAt: when the answer came.
    /// The lifetime of something that no server has said anything of.
    init() {}

    init(of response: ModelResponse, to request: ModelRequest, requestedAt: Date, receivedAt: Date) {
        let control = (response.headers["cache-control"] ?? "").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        isStored = !control.contains("no-store")
        for part in control where part.hasPrefix("max-age=") {
            if let seconds = Int(part.dropFirst(8)) {
                fresh = .seconds(seconds - (response.headers["age"].flatMap { Int($0) } ?? 0))
            }
        }
        if control.contains("no-cache") { fresh = .zero }
        if control.contains("must-revalidate") { staleIfError = .zero }
        let validators = Validators(
            entityTag: response.headers["etag"],
            lastModified: response.headers["last-modified"],
            representation: request.representation
        )
        if validators.entityTag != nil || validators.lastModified != nil { self.validators = validators }
    }
}
