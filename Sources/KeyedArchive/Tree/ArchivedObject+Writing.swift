import Foundation

extension ArchivedObject: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        guard archiver.enter() else { return 0 }
        defer { archiver.leave() }
        return archiver.place(of: self) { uid in
            archiver.writer.pushScope()
            for field in fields {
                if field.key == "$class" {
                    archiver.record(ArchiveError(.unsupportedType, "a field under the key of the class"))
                }
                let reference = archiver.reference(to: field.value)
                if archiver.hasFailed { return }
                archiver.writer.set(stored: field.key, reference)
            }
            // The class comes after the contents, as with every object.
            let place = archiver.writer.classUID(describedClass)
            archiver.writer.set(stored: "$class", archiver.writer.reference(to: place))
            archiver.writer.popDictionary(uid)
        }
    }
}
