import Foundation

/// The age, revision and validators of a stored model or list.
struct EntryState: Hashable, Sendable {
    /// The lifetime of the account's bookkeeping in which the revision was given. See ``Bookkeeping``.
    var generation: UInt64
    var revision: Revision
    /// When the answer came, or the program saved it.
    var fetchedAt: Date
    /// `nil`: until it is invalidated.
    var freshUntil: Date?
    /// How long after `freshUntil` it may be served while it is loaded anew.
    var staleWhileRevalidate: Duration = .zero
    /// How long after `freshUntil` it may be served if loading fails; `nil`: as long as it is kept.
    var staleIfError: Duration?
    var validators: Validators?
    /// The request headers that the answer depends on (`Vary`). See ``Variants``.
    var varying: [String: String] = [:]
    /// Why it is stale for another reason than its time.
    var isRefused = false
}

/// How an entry's state is written, in members of the entry itself.
extension EntryState {
    /// With the keys of a model's entry: each container of an object takes its time, and more if a generic
    /// type has its keys.
    enum CodingKeys: String, CodingKey, CaseIterable {
        case version, model
        case generation = "g"
        case revision = "r"
        case fetchedAt = "at"
        case freshUntil = "until"
        case staleWhileRevalidate = "swr"
        case staleIfError = "sie"
        case validators = "valid"
        case varying = "vary"
        case isRefused = "refused"
    }

    init(from container: KeyedDecodingContainer<CodingKeys>) throws {
        generation = UInt64(bitPattern: try container.decode(Int64.self, forKey: .generation))
        // As a revision is coded by itself, without the detour over its own decoding.
        revision = Revision(UInt64(bitPattern: try container.decode(Int64.self, forKey: .revision)))
        fetchedAt = Date(timeIntervalSinceReferenceDate: try container.decode(Double.self, forKey: .fetchedAt))
        freshUntil = try container.decodeIfPresent(Double.self, forKey: .freshUntil)
            .map(Date.init(timeIntervalSinceReferenceDate:))
        staleWhileRevalidate =
            try container.decodeIfPresent(Double.self, forKey: .staleWhileRevalidate).map(Self.duration) ?? .zero
        staleIfError = try container.decodeIfPresent(Double.self, forKey: .staleIfError).map(Self.duration)
        validators = try container.decodeIfPresent(Validators.self, forKey: .validators)
        varying = try container.decodeIfPresent([String: String].self, forKey: .varying) ?? [:]
        isRefused = try container.decodeIfPresent(Bool.self, forKey: .isRefused) ?? false
    }

    func encode(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(Int64(bitPattern: generation), forKey: .generation)
        // As a revision is coded by itself, and absent values left out, without the detours over their own coding.
        try container.encode(Int64(bitPattern: revision.number), forKey: .revision)
        try container.encode(fetchedAt.timeIntervalSinceReferenceDate, forKey: .fetchedAt)
        if let freshUntil { try container.encode(freshUntil.timeIntervalSinceReferenceDate, forKey: .freshUntil) }
        if staleWhileRevalidate != .zero {
            try container.encode(staleWhileRevalidate / .seconds(1), forKey: .staleWhileRevalidate)
        }
        if let staleIfError { try container.encode(staleIfError / .seconds(1), forKey: .staleIfError) }
        if let validators { try container.encode(validators, forKey: .validators) }
        if !varying.isEmpty { try container.encode(varying, forKey: .varying) }
        if isRefused { try container.encode(true, forKey: .isRefused) }
    }

    /// A duration of some seconds; one that is no number, or cannot be counted, is zero.
    private static func duration(_ seconds: Double) -> Duration {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return .zero }
        return .seconds(seconds)
    }
}
