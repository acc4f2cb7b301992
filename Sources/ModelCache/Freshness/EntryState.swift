import Foundation

/// The age, revision and validators of a stored model or list.
struct EntryState: Equatable, Sendable {
    /// The lifetime of the account's bookkeeping in which the revision was given. See ``Bookkeeping``.
    var generation: UInt64
    var revision: Revision
    /// When the answer came, or the program saved it.
    var fetchedAt: Date
    /// `nil`: until it is invalidated.
    var freshUntil: Date?
    /// The rest; `nil` where all of it is as most entries have it. Apart, because each entry in memory has a state.
    private var box: Box?

    init(generation: UInt64, revision: Revision, fetchedAt: Date) {
        self.generation = generation
        self.revision = revision
        self.fetchedAt = fetchedAt
    }

    private struct Rest: Equatable, Sendable {
        var staleWhileRevalidate: Duration = .zero
        var staleIfError: Duration?
        var validators: Validators?
        var varying: [String: String] = [:]
        var isRefused = false
        var isPartial = false
    }

    private final class Box: Sendable {
        let rest: Rest
        init(_ rest: Rest) { self.rest = rest }
    }
}

// The fields that few entries have.
extension EntryState {
    /// How long after `freshUntil` it may be served while it is loaded again.
    var staleWhileRevalidate: Duration {
        get { box?.rest.staleWhileRevalidate ?? .zero }
        set { change { $0.staleWhileRevalidate = newValue } }
    }

    /// How long after `freshUntil` it may be served if loading fails; `nil`: as long as it is kept.
    var staleIfError: Duration? {
        get { box?.rest.staleIfError }
        set { change { $0.staleIfError = newValue } }
    }

    var validators: Validators? {
        get { box?.rest.validators }
        set { if newValue != nil || box != nil { change { $0.validators = newValue } } }
    }

    /// The request headers that the answer depends on (`Vary`). See ``Variants``.
    var varying: [String: String] {
        get { box?.rest.varying ?? [:] }
        set { change { $0.varying = newValue } }
    }

    /// Why it is stale for another reason than its time.
    var isRefused: Bool {
        get { box?.rest.isRefused ?? false }
        set { change { $0.isRefused = newValue } }
    }

    /// Whether the model is known from its type's `partialSources` alone.
    var isPartial: Bool {
        get { box?.rest.isPartial ?? false }
        set { if newValue || box != nil { change { $0.isPartial = newValue } } }
    }

    private mutating func change(_ body: (inout Rest) -> Void) {
        var rest = box?.rest ?? Rest()
        body(&rest)
        box = rest == Rest() ? nil : Box(rest)
    }

    static func == (left: EntryState, right: EntryState) -> Bool {
        left.generation == right.generation && left.revision == right.revision && left.fetchedAt == right.fetchedAt
            && left.freshUntil == right.freshUntil && left.box?.rest == right.box?.rest
    }
}

extension EntryState {
    /// Whether this state differs from an older one by its times and revision alone, and an entry on disk, which has an even
    /// older one, is fresh for a minute less at most.
    ///
    /// - Parameter writtenAt: when the state on disk was fetched; an hour ago at most, because `fetchedAt` shows.
    func renews(_ old: EntryState, writtenAt: Date) -> Bool {
        var same = self
        same.revision = old.revision
        same.fetchedAt = old.fetchedAt
        same.freshUntil = old.freshUntil
        guard same == old, (freshUntil == nil) == (old.freshUntil == nil) else { return false }
        let age = fetchedAt.timeIntervalSince(writtenAt)
        let isBrief =
            staleWhileRevalidate == .zero && staleIfError == nil
            && freshUntil.map { $0.timeIntervalSince(fetchedAt) <= 60 } ?? true
        return age >= 0 && age <= (isBrief ? 3_600 : 60)
    }
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
        case isPartial = "part"
    }

    init(from container: KeyedDecodingContainer<CodingKeys>) throws {
        self.init(
            generation: UInt64(bitPattern: try container.decode(Int64.self, forKey: .generation)),
            // As a revision is coded by itself, without the detour over its own decoding.
            revision: Revision(UInt64(bitPattern: try container.decode(Int64.self, forKey: .revision))),
            fetchedAt: Date(timeIntervalSinceReferenceDate: try container.decode(Double.self, forKey: .fetchedAt))
        )
        freshUntil = try container.decodeIfPresent(Double.self, forKey: .freshUntil)
            .map(Date.init(timeIntervalSinceReferenceDate:))
        if let seconds = try container.decodeIfPresent(Double.self, forKey: .staleWhileRevalidate) {
            staleWhileRevalidate = Self.duration(seconds)
        }
        if let seconds = try container.decodeIfPresent(Double.self, forKey: .staleIfError) {
            staleIfError = Self.duration(seconds)
        }
        if let found = try container.decodeIfPresent(Validators.self, forKey: .validators) { validators = found }
        if let found = try container.decodeIfPresent([String: String].self, forKey: .varying) { varying = found }
        if try container.decodeIfPresent(Bool.self, forKey: .isRefused) ?? false { isRefused = true }
        if try container.decodeIfPresent(Bool.self, forKey: .isPartial) ?? false { isPartial = true }
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
        if isPartial { try container.encode(true, forKey: .isPartial) }
    }

    /// A duration of some seconds; zero if it is not a number, or cannot be counted.
    private static func duration(_ seconds: Double) -> Duration {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return .zero }
        return .seconds(seconds)
    }
}
