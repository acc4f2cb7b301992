import Synchronization

/// A reference to another model.
///
/// ```swift
/// struct Article: CachedModel {
///     let id: UUID
///     var author: ModelLink<User>
/// }
/// ```
///
/// A server's JSON may have the identity in its place, or the whole model: that becomes an entry of its own, and the link
/// keeps the identity. On disk and in memory a link is the identity alone, so that each model exists once, and a change
/// of it is seen wherever it is referred to.
public struct ModelLink<Target: CachedModel>: Hashable, Sendable {
    /// The identity of the model that is referred to.
    public let id: Target.ID

    /// A link to the model with an identity, which need not be stored.
    public init(_ id: Target.ID) { self.id = id }
    /// A link to a model by its identity; the model is not stored.
    public init(to target: Target) { id = target.id }
}

extension ModelLink: Codable {
    /// Reads an identity, or in an answer a whole model, which is stored as an entry of its own.
    public init(from decoder: any Decoder) throws {
        guard let nested = decoder.userInfo[.nestedModels] as? NestedModels else {
            id = try decoder.singleValueContainer().decode(Target.ID.self)
            return
        }
        id = try Self.identity(in: decoder, collecting: nested)
    }

    // Apart: optionals of types that are not known take longer to make than a link from disk does.
    private static func identity(in decoder: any Decoder, collecting nested: NestedModels) throws -> Target.ID {
        // Most answers have one form throughout, so the form that was there last time is tried first. Neither form is
        // tried twice: the attempts would double with each link of a chain.
        var failure: (any Error)?
        if nested.expectsWhole(Target.self) {
            do { return try whole(in: decoder, collecting: nested) } catch { failure = error }
        }
        if let id = try? decoder.singleValueContainer().decode(Target.ID.self) { return id }
        if let failure { throw failure }
        return try whole(in: decoder, collecting: nested)
    }

    private static func whole(in decoder: any Decoder, collecting nested: NestedModels) throws -> Target.ID {
        let target = try Target(from: decoder)
        nested.add(target)
        return target.id
    }

    /// Writes the identity alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

/// The models that were found inside other models while an answer was decoded, in the order of their ends: a model comes after
/// the models nested in it.
///
/// A model's own decoding may hand the body to several threads.
final class NestedModels: Sendable {
    private struct State {
        var models: [any CachedModel] = []
        var whole: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())

    var models: [any CachedModel] { state.withLock { $0.models } }

    func add<Target: CachedModel>(_ target: Target) {
        state.withLock { state in
            state.whole.insert(ObjectIdentifier(Target.self))
            state.models.append(target)
        }
    }

    /// Adds the models of a part of the answer that was decoded by itself.
    func add(_ others: NestedModels) {
        let others = others.models
        if others.isEmpty { return }
        state.withLock { $0.models += others }
    }

    /// Whether a link of this answer held a whole model of this type.
    func expectsWhole<Target: CachedModel>(_ type: Target.Type) -> Bool {
        state.withLock { $0.whole.contains(ObjectIdentifier(type)) }
    }
}

extension CodingUserInfoKey {
    // The name is not empty, so it is a key.
    static let nestedModels = CodingUserInfoKey(rawValue: "ModelCache.nestedModels").unsafelyUnwrapped
}
