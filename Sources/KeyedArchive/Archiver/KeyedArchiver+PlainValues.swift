import Foundation

extension KeyedArchiver {
    /// Archives an object of plain values: the same archive as of a dictionary with its keys in this order, or of an
    /// object with these fields.
    ///
    /// - Parameter type: the class of the object; `nil` makes it a dictionary.
    /// - Returns: the archive, and whether a reader may refuse it, which is seen by trying.
    package static func archive(
        _ values: PlainValues,
        as type: ArchivedClass?
    ) throws(ArchiveError) -> (bytes: [UInt8], mayBeRefused: Bool) {
        precondition(values.items.first?.kind == .object, "the first value is the object")
        return try withAutoreleasePool { () throws(ArchiveError) in
            let archiver = KeyedArchiver()
            values.text.withUnsafeBufferPointer { text in
                let source = PlainValueWriter(archiver: archiver, values: values, text: text)
                archiver.setReference(forKey: rootKey) {
                    archiver.writer.reference(to: type.map(source.object(as:)) ?? source.place(of: 0))
                }
            }
            return (try archiver.finish { $0.finishedBytes() }, archiver.mayBeRefused)
        }
    }
}

/// Writes plain values into an archive, strings from the bytes of their text.
///
/// Why the buffer is safe: it is used only while the text is borrowed, and a string's bytes are checked to be within it.
private struct PlainValueWriter {
    private static let array = ArchivedClass.of(NSArray.self)
    private static let dictionary = ArchivedClass.of(NSDictionary.self)

    let archiver: KeyedArchiver
    let values: PlainValues
    let text: UnsafeBufferPointer<UInt8>

    private var writer: ArchiveWriter { archiver.writer }

    /// The first value as an object of a class.
    func object(as type: ArchivedClass) -> ArchiveWriter.UID {
        guard archiver.enter() else { return 0 }
        defer { archiver.leave() }
        let uid = writer.reserveObject()
        writer.pushScope()
        var index = 1
        for _ in 0..<values.items[0].count {
            if archiver.hasFailed { return 0 }
            let reference = field(at: index + 1)
            if archiver.hasFailed {
                archiver.locateFailure(within: values.string(at: index))
                return 0
            }
            writer.set(utf8(of: values.items[index]), reference)
            index = values.end(of: index + 1)
        }
        writer.popObject(uid, class: type)
        return uid
    }

    /// A value as it stands under the key of an object: numbers and Booleans inline.
    private func field(at index: Int) -> ArchiveWriter.Reference {
        let item = values.items[index]
        switch item.kind {
        case .null: return writer.reference(to: 0)
        case .bool: return writer.scalar(item.content != 0)
        case .integer: return writer.scalar(Int64(bitPattern: item.content))
        case .real: return writer.scalar(item.double)
        case .unsigned, .string, .array, .object: return writer.reference(to: place(of: index))
        }
    }

    /// The place of a value as an object of its own.
    func place(of index: Int) -> ArchiveWriter.UID {
        let item = values.items[index]
        switch item.kind {
        case .null: return NSNull().archive(into: archiver)
        case .bool: return writer.addObject(writer.scalar(item.content != 0))
        case .integer: return writer.addObject(writer.scalar(Int64(bitPattern: item.content)))
        case .unsigned: return writer.addObject(writer.scalar(item.content))
        case .real: return writer.addObject(writer.scalar(item.double))
        case .string: return archiver.string(utf8(of: item))
        case .array:
            return archiver.collection(Self.array) { members in
                members.reserveCapacity(Int(item.count))
                var at = index + 1
                for _ in 0..<item.count {
                    members.append(place(of: at))
                    at = values.end(of: at)
                }
            }
        case .object:
            return archiver.dictionary(Self.dictionary) { keyPlaces, valuePlaces in
                archiver.willHash(Int(item.count))
                keyPlaces.reserveCapacity(Int(item.count))
                valuePlaces.reserveCapacity(Int(item.count))
                var at = index + 1
                for _ in 0..<item.count {
                    keyPlaces.append(archiver.string(utf8(of: values.items[at])))
                    at = values.end(of: at + 1)
                }
                at = index + 1
                for _ in 0..<item.count {
                    valuePlaces.append(place(of: at + 1))
                    at = values.end(of: at + 1)
                }
            }
        }
    }

    private func utf8(of item: PlainValues.Item) -> UnsafeBufferPointer<UInt8> {
        let range = item.range
        precondition(range.upperBound <= text.count, "a string is in its text")
        return UnsafeBufferPointer(rebasing: text[range])
    }
}
