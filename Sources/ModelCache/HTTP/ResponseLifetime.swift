import Foundation

/// The lifetime that an answer states, by the rules of a private cache (RFC 9111, RFC 5861).
///
/// docs/http.md has the rules as a table.
struct ResponseLifetime: Hashable, Sendable {
    /// The longest age and lifetime in seconds: 68 years.
    static let longest = 1 << 31

    /// Whether it may be kept at all.
    var isStored = true
    /// `nil`: the answer does not say.
    var stated: StatedLifetime?
    /// Seconds since the server made the answer, when it came.
    var age = 0.0
    /// The server's time when it made the answer; the time when it came, where it does not say.
    var date: Date
    /// Whether it has a `Cache-Control` at all, which takes the place of a former one.
    var hasCacheControl = false
    var staleWhileRevalidate: Duration = .zero
    /// How long after that it may be served if loading fails; `nil`: the answer does not say.
    var staleIfError: Duration?
    var validators: Validators?
    /// The request headers that the answer depends on. See ``Variants``.
    var varying: [String: String] = [:]

    /// The lifetime of something that no server has said anything of.
    init(at now: Date) { date = now }

    /// - Parameters:
    ///   - requestedAt: when the request was sent.
    ///   - receivedAt: when the answer came.
    init(of response: ModelResponse, to request: ModelRequest, requestedAt: Date, receivedAt: Date) {
        let headers = response.headers
        let control = headers["cache-control"].map(CacheControl.init)
        hasCacheControl = control != nil
        let sent = headers["date"].flatMap { HTTPDate.parse($0, now: receivedAt) }
        date = sent ?? receivedAt
        age = Self.age(headers["age"], sent: sent, requestedAt: requestedAt, receivedAt: receivedAt)
        stated = Self.stated(headers, control, now: receivedAt)
        staleWhileRevalidate = .seconds(control?.staleWhileRevalidate ?? 0)
        staleIfError = control?.staleIfError.map { .seconds($0) }
        if stated == .mustAsk || control?.isMustRevalidate == true {
            staleWhileRevalidate = .zero
            staleIfError = .zero
        }
        isStored = Self.isStored(response, to: request, control)
        validators = Validators(
            of: headers,
            representation: request.representation,
            lifetime: stated,
            now: receivedAt
        )
        varying = headers["vary"].map { Variants.of($0, request) } ?? [:]
    }

    /// Until when something is fresh for which the server has stated a lifetime.
    ///
    /// - Parameter fresh: how long it is where the server has not.
    func end(of stated: StatedLifetime?, receivedAt: Date, fresh: Duration) -> Date {
        let seconds: Double
        switch stated {
        case nil: return receivedAt.addingTimeInterval(max(.zero, fresh) / .seconds(1))
        case .seconds(let lifetime)?: seconds = Double(lifetime) - age
        case .until(let moment)?: seconds = min(moment.timeIntervalSince(date), Double(Self.longest)) - age
        case .mustAsk?: seconds = 0
        }
        return receivedAt.addingTimeInterval(max(0, seconds))
    }

    /// The lifetime that this answer's headers state, or that a former answer's headers stated.
    func stated(over former: StatedLifetime?) -> StatedLifetime? {
        switch (stated, former) {
        case (nil, .until?): former
        case (nil, _): hasCacheControl ? nil : former
        // The former answer's `Cache-Control` is still there, and counts before `Expires`.
        case (.until?, .seconds?), (.until?, .mustAsk?): hasCacheControl ? stated : former
        default: stated
        }
    }

    private static func stated(_ headers: ModelHeaders, _ control: CacheControl?, now: Date) -> StatedLifetime? {
        if let control {
            if control.isNoCache { return .mustAsk }
            if let seconds = control.maxAge { return .seconds(seconds) }
        } else if let pragma = headers["pragma"],
            HeaderMembers(pragma).contains(where: { $0.isCaseInsensitively("no-cache") })
        {
            return .mustAsk
        }
        // A text that is not a date counts as past.
        return headers["expires"].map { .until(HTTPDate.parse($0, now: now) ?? .distantPast) }
    }

    /// RFC 9111, section 4.2.3.
    private static func age(_ header: String?, sent: Date?, requestedAt: Date, receivedAt: Date) -> Double {
        let told = header.flatMap { HeaderMembers($0).first { _ in true }?.deltaSeconds } ?? 0
        let delay = max(0, receivedAt.timeIntervalSince(requestedAt))
        let apparent = sent.map { receivedAt.timeIntervalSince($0) } ?? 0
        return min(max(apparent, Double(told) + delay), Double(longest))
    }

    /// RFC 9111, section 3. Of answers with another status than 2xx, only 304 gets here.
    private static func isStored(
        _ response: ModelResponse,
        to request: ModelRequest,
        _ control: CacheControl?
    ) -> Bool {
        if request.headers["cache-control"].map(CacheControl.init)?.isNoStore == true { return false }
        // Statuses whose answers are whole, and may be kept where nothing is said.
        let isUnderstood = [200, 203, 204, 304].contains(response.status)
        if control?.isMustUnderstand == true { return isUnderstood }
        if control?.isNoStore == true { return false }
        // A part of a model is not a model.
        if response.status == 206 { return false }
        return isUnderstood || control?.maxAge != nil || control?.allowsStoring == true
            || response.headers["expires"] != nil
    }
}
