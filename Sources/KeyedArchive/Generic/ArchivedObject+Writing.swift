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
                let reference = archiver.reference(to: field.value, depth: 0)
                if archiver.hasFailed { return }
                archiver.writer.set(stored: field.key, reference)
            }
            // The class comes after the contents, as with every object.
            let place = archiver.place(of: describedClass)
            archiver.writer.set(stored: "$class", archiver.writer.reference(to: place))
            archiver.writer.popDictionary(uid)
        }
    }
}

extension KeyedArchiver {
    /// Archives hardly ever hold lists in lists, and each level takes stack that no other check limits.
    private static let depthLimit = 16

    /// The place of a class that is described, not known; equal descriptions share one.
    fileprivate func place(of description: ArchiveTree.ClassDescription) -> ArchiveWriter.UID {
        if let known = describedClasses[description] { return known }
        let uid = writer.reserveObject()
        writer.pushScope()
        writer.set(stored: "$classname", writer.string(description.name))
        for (key, names) in [("$classes", description.chain), ("$classhints", description.hints)] {
            if !names.isEmpty { writer.set(stored: key, writer.array(of: names.map { writer.string($0) })) }
        }
        writer.popDictionary(uid)
        describedClasses[description] = uid
        return uid
    }

    /// The property-list object of a field's value; anything after an error.
    fileprivate func reference(to value: ArchivedObject.Value, depth: Int) -> ArchiveWriter.Reference {
        guard depth < Self.depthLimit else {
            record(ArchiveError(.limitExceeded, "lists nest more than \(Self.depthLimit) deep"))
            return 0
        }
        switch value {
        case .object(let object):
            let uid = object.map { self.uid(of: $0) } ?? 0
            return hasFailed ? 0 : writer.reference(to: uid)
        case .bool(let value): return writer.scalar(value)
        case .integer(let value): return writer.scalar(value)
        case .unsigned(let value): return writer.scalar(value)
        case .float(let value): return writer.scalar(value)
        case .real(let value): return writer.scalar(value)
        case .string(let value): return writer.string(value)
        case .data(let value): return value.withUnsafeBytes { writer.scalar($0) }
        case .date(let value): return writer.scalar(date: value.timeIntervalSinceReferenceDate)
        case .array(let members):
            return writer.array(of: members.map { reference(to: $0, depth: depth + 1) })
        case .set(let members):
            return writer.set(of: members.map { reference(to: $0, depth: depth + 1) })
        case .dictionary(let fields):
            return writer.dictionary(of: fields.map { ($0.key, reference(to: $0.value, depth: depth + 1)) })
        case .null: return writer.null()
        }
    }
}
