import Foundation
import KeyedArchive
import TypedCache

/// Brings an entry of another schema version to the present one.
struct ModelMigration<Model: CachedModel> {
    private let archive: [UInt8]

    init(_ archive: [UInt8]) { self.archive = archive }

    /// The entry as it is.
    ///
    /// - Throws: `ArchiveError`, if it is of another schema version, or the model's type refuses it.
    func unchanged() throws(ArchiveError) -> ModelRecord<Model> {
        try KeyedUnarchiver.unarchive(decoding: ModelRecord<Model>.self, from: archive)
    }

    /// The entry as the present schema has it; `nil`: the model's type does not bring it there.
    ///
    /// - Throws: errors of the type's `migrate`; `ArchiveError` if the archive does not hold an entry, or the tree a model.
    func migrated() throws -> ModelRecord<Model>? {
        let former = try KeyedUnarchiver.unarchive(decoding: FormerRecord.self, from: archive)
        let tree = try ArchiveTree(Data(archive))
        guard let root = tree.roots.first, let model = tree.instance(root.value)?["model"] else { return nil }
        let old = ArchiveTree(roots: [ArchiveTree.Field(key: root.key, value: model)], objects: tree.objects)
        guard var new: ArchiveTree = try Model.migrate(old, from: former.version) else { return nil }
        // The type may have had another name.
        if let root = new.roots.first, let place = new.instance(root.value)?.classPlace {
            let name = ArchivedClass.of(Model.self)
            new.objects[place] = ArchiveTree.Object.classDescription(
                ArchiveTree.ClassDescription(name: name.name, chain: name.chain)
            )
        }
        let decoded = try KeyedUnarchiver.unarchivedValue(of: Model.self, from: new.archivedData())
        // The former model may lack fields: "not modified" would keep it so for ever.
        var state = former.state
        state.validators = nil
        return ModelRecord(model: decoded, state: state)
    }
}

/// An entry of any schema version, without its model.
private struct FormerRecord: Decodable, NamedInArchives {
    let version: Int
    let state: EntryState

    static var archivedName: String { "ModelCache.Model" }

    private enum CodingKeys: String, CodingKey { case version }

    init(from decoder: any Decoder) throws {
        version = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .version)
        state = try EntryState(from: decoder.container(keyedBy: EntryState.CodingKeys.self))
    }
}
