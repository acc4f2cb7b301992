import Foundation

/// Reads the objects of classes that are not among those expected, as `ArchivedObject`s.
struct UnknownObjectReader: PropertyListValueReader {
    /// For writing them as well: archives hardly ever hold lists in lists, and each level takes stack that no other
    /// check limits.
    static let depthLimit = 16
    static let locatesErrors = true

    private let unarchiver: KeyedUnarchiver

    init(_ unarchiver: KeyedUnarchiver) { self.unarchiver = unarchiver }

    var source: ArchiveSource { unarchiver.source }
    var budget: DecodingBudget { unarchiver.budget }

    /// Reads the object in a place.
    func object(
        in uid: UInt32,
        _ found: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchivedObject {
        let classUID = try unarchiver.classUID(of: found, at: reference)
        let object = ArchivedObject(describedClass: try unarchiver.classes.description(classUID, in: source))
        // Known before its fields are, so that they may lead back to it.
        unarchiver.objects.note(object, in: uid)
        object.fields = try fields(found, without: "$class")
        return object
    }

    func reference(to uid: UInt32, at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        if try source.resolve(reference) == nil { return nil }
        if let object = try unarchiver.object(uid) { return object }
        // Kept as nil, it would be gone from the archive that this object is written to.
        if let error = unarchiver.error as? ArchiveError { throw error }
        throw unarchiver.refusal(of: "what an object of an unknown class refers to", reference)
    }

    func data(in range: Range<Int>) -> Data { source.list.bytes.data(in: range) }
}
