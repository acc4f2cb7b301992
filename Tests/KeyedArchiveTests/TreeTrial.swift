import Foundation

@testable import KeyedArchive

/// The readers below the unarchiver, tried on any bytes: the property list with everything in it, and the tree.
enum TreeTrial {
    /// - Throws: only for an error without a message, which is a defect.
    static func read(_ bytes: [UInt8]) throws(SilentError) {
        do throws(ArchiveError) {
            try BinaryPropertyList.reading(bytes) { list throws(ArchiveError) in
                // Lists may share their parts, so that all of them are far more than the bytes.
                for reference in 0..<min(list.objectCount, 4_096) { try read(reference, of: list) }
            }
        } catch {
            if error.message.isEmpty { throw SilentError() }
        }
        do throws(ArchiveError) {
            _ = try ArchiveTree(bytes)
        } catch {
            if error.message.isEmpty { throw SilentError() }
        }
    }

    struct SilentError: Error {}

    private static func read(
        _ reference: BinaryPropertyList.Reference,
        of list: BinaryPropertyList
    ) throws(ArchiveError) {
        switch try list.object(reference) {
        case .data(let range): _ = list.bytes.data(in: range).last
        case .ascii(let range): _ = try list.string(ascii: range.prefix(4_096))
        case .utf16(let range): _ = try list.string(utf16: range.prefix(4_096))
        case .array(let run), .set(let run):
            for index in 0..<min(run.count, 4_096) { _ = try list.offset(of: list.element(run, index)) }
        case .dictionary(let fields):
            for index in 0..<min(fields.count, 4_096) {
                _ = try list.shortString(list.key(fields, index), below: 4_096)
                _ = try list.uid(list.value(fields, index))
            }
        default: break
        }
    }
}
