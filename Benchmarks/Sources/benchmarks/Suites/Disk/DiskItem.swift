import Foundation
import KeyedArchive

/// A value, and the bytes that those get who are to store no more than bytes.
struct DiskItem {
    let document: Document
    /// Its archive, compressed.
    let bytes: [UInt8]

    init(_ document: Document, codec: DocumentCodec) throws {
        self.document = document
        bytes = try codec.bytes(of: document)
    }

    /// Few enough to stay in memory, enough not to be all the same.
    static func make(textByteCount: Int) throws -> [DiskItem] {
        let codec = DocumentCodec(reusesStreams: false)
        return try Document.make(count: 16, textByteCount: textByteCount).map { try DiskItem($0, codec: codec) }
    }
}
