import Foundation
import KeyedArchive
import TypedCache

/// A type of which a ``Models`` keeps one value for each identity.
///
/// ```swift
/// struct User: CachedModel {
///     static let modelName = "user"
///     let id: Int
///     var name: String
///
///     static func request(for id: Int) -> ModelRequest { .get("/users", id) }
/// }
/// ```
///
/// Everything else has a default. A reference to another model is a ``ModelLink``.
///
/// A model must decode what it encodes: so it is kept. A type that flattens the server's form in `init(from:)` needs an
/// `encode(to:)` that writes that form, or an `init(from:)` that reads both forms. In debug builds the first model of a type that
/// is saved is tried, and `onFailure` is told `.invalidModel`.
///
/// Models are encoded and decoded on any thread; the models of one answer are encoded on several threads at once.
public protocol CachedModel: Codable, Equatable, Sendable, Identifiable where ID: ModelID {
    /// The name of the directory with this type's models: 1 to 64 characters `a`–`z`, `0`–`9`, `-` and `_`.
    ///
    /// It stays the same when the Swift type is renamed, and must differ from that of every other model.
    static var modelName: String { get }

    /// The version of the type's fields; 1 by default. Raise it where an older model cannot be decoded any longer, or
    /// would be decoded to something else; also where a field is added that stored models should get, an optional one
    /// too: otherwise they lack it for as long as the server calls them unchanged (304).
    static var schemaVersion: Int { get }

    /// How long models are fresh and kept, and how much room they may take.
    static var policy: ModelPolicy { get }

    /// The request for one model.
    static func request(for id: ID) -> ModelRequest

    /// The request that loads several models. `nil`, the default, loads each with a request of its own.
    ///
    /// - Parameter ids: one to ``batchLimit`` of them.
    static func request(for ids: [ID]) -> ModelRequest?

    /// The most models that one request for several asks for; 100 by default, which servers take in a URL. More are asked for
    /// by several requests, six at a time.
    static var batchLimit: Int { get }

    /// Decodes the answer to ``request(for:)->ModelRequest``; by default the whole body is one model in JSON. Its identity is
    /// the one that was asked for: a fetch throws `.decodingFailed` for another one, and stores nothing of the answer.
    static func model(in body: ModelBody) throws -> Self

    /// Decodes the answer to the request for several models; by default the whole body is an array in JSON. The server has no
    /// models that it leaves out: they are removed, as by 404. Models that were not asked for are stored, and
    /// are not returned by the fetch.
    static func models(in body: ModelBody) throws -> [Self]

    /// The model that takes the place of `old` where `incoming` arrives; by default `incoming`.
    ///
    /// A list, or a model that holds this one, often gives fewer fields than the model's own request does: this is the
    /// place to keep the other fields. Must be quick, and may be called again for the same two.
    static func merge(_ incoming: Self, over old: Self, from source: ModelSource) -> Self

    /// The sources that give fewer fields than the model's own request does; none by default.
    ///
    /// A model that came from these alone is incomplete: lists and observers show it as it is, and a fetch of it loads it.
    /// The cache keeps whether another answer brought it, so fields that are null mean nothing here.
    static var partialSources: Set<ModelSource> { get }

    /// Whether a model has all fields that its own request gives, for more than ``partialSources`` tells; `true` by
    /// default. Where a field that the server may leave null says so, such a model is loaded by each fetch.
    static func isComplete(_ model: Self) -> Bool

    /// Brings a model of another ``schemaVersion`` to the present one; `nil`, the default: it counts as missing, and
    /// `onFailure` is told.
    ///
    /// Runs when the stored model is read. The new form is saved then, unless the model is changed in the meantime, so it is
    /// brought there once; where the disk refuses it, `onFailure` is told, and the next read does it again.
    ///
    /// - Parameters:
    ///   - old: the archived model, whose root is the model itself.
    ///   - version: the version that it was saved with, older or newer than the present one; the present one itself, if the
    ///     type refuses the model all the same.
    static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree?

    /// Groups that the model belongs to, for ``Models/invalidate(_:)``; none by default. At most 10 of 1 to
    /// 256 UTF-8 bytes: a model with longer or more tags is not written to disk.
    var tags: Set<String> { get }
}

extension CachedModel {
    public static var schemaVersion: Int { 1 }
    public static var policy: ModelPolicy { ModelPolicy() }
    public static func request(for ids: [ID]) -> ModelRequest? { nil }
    public static var batchLimit: Int { 100 }
    public static func model(in body: ModelBody) throws -> Self { try body.model(Self.self) }
    public static func models(in body: ModelBody) throws -> [Self] { try body.models(Self.self) }
    public static func merge(_ incoming: Self, over old: Self, from source: ModelSource) -> Self { incoming }
    public static var partialSources: Set<ModelSource> { [] }
    public static func isComplete(_ model: Self) -> Bool { true }
    public static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree? { nil }
    public var tags: Set<String> { [] }
}

/// Where an incoming model comes from.
public struct ModelSource: Hashable, Sendable {
    private enum Base { case detail, list, nested, pushed }

    private let base: Base

    /// The answer to the model's own request.
    public static let detail = ModelSource(base: .detail)
    /// An element of a list.
    public static let list = ModelSource(base: .list)
    /// A model inside another one, by a ``ModelLink``.
    public static let nested = ModelSource(base: .nested)
    /// The program itself, by ``Models/save(_:)``.
    public static let pushed = ModelSource(base: .pushed)
}

extension Array where Element: CachedModel {
    /// The keys of models, in their order. Without key paths, each step of which is a call by way of the runtime.
    var cacheKeys: [String] {
        var keys: [String] = []
        keys.reserveCapacity(count)
        for index in indices { keys.append(self[index].id.cacheKey) }
        return keys
    }
}
