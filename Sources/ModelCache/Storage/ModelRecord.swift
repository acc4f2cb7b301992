import Foundation
import KeyedArchive
import TypedCache

/// The entry of a model.
///
/// A class, so that handing it on costs one reference, whatever fields the model has: code that is generic over models
/// copies a structure field by field, by way of its type's witnesses.
final class ModelRecord<Model: CachedModel>: Encoded, Codable, NamedInArchives, Equatable, Sendable {
    let model: Model
    let state: EntryState
    /// When the state on disk was fetched: before this one where the entry was renewed, and not written.
    let writtenAt: Date

    /// - Parameter former: the entry that this one renews.
    init(model: Model, state: EntryState, renewing former: ModelRecord? = nil) {
        self.model = model
        self.state = state
        writtenAt = former?.writtenAt ?? state.fetchedAt
    }

    /// Whether the model has all fields that its own request gives.
    var isComplete: Bool { !state.isPartial && Model.isComplete(model) }

    static func == (left: ModelRecord, right: ModelRecord) -> Bool {
        left.state == right.state && left.model == right.model
    }

    // The same for every type, so that a renamed one reads its entries.
    static var archivedName: String { "ModelCache.Model" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EntryState.CodingKeys.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Model.schemaVersion else { throw OtherSchema(version: version) }
        state = try EntryState(from: container)
        writtenAt = state.fetchedAt
        model = try container.decode(Model.self, forKey: .model)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: EntryState.CodingKeys.self)
        try container.encode(Model.schemaVersion, forKey: .version)
        try state.encode(to: &container)
        try container.encode(model, forKey: .model)
    }
}

/// An entry was saved with another version of its model.
struct OtherSchema: Error, CustomStringConvertible {
    let version: Int

    var description: String { "saved with schema version \(version)" }
}
