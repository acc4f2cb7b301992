// The faults of archives that are read without their classes, be it to keep their values or only to check them.
extension ArchiveSource {
    /// The place of an object's class.
    ///
    /// - Parameter reference: the value under the object's key `$class`.
    func classPlace(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> UInt32 {
        guard let uid = try list.uid(reference) else { throw corrupted("class that is not a reference", reference) }
        _ = try self.reference(ofObject: uid)
        return uid
    }

    func classless(_ place: Int) -> ArchiveError {
        corrupted("object of something that is not a class", list.element(objects, place))
    }

    func keyWithoutText(_ key: BinaryPropertyList.Reference) -> ArchiveError {
        corrupted("key that is not a string", key)
    }

    func listsTooDeep(limit: Int) -> ArchiveError {
        ArchiveError(.limitExceeded, "lists nest more than \(limit) deep")
    }

    func corrupted(_ message: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        ArchiveError(.corrupted, message, offset: try? list.offset(of: reference))
    }
}
