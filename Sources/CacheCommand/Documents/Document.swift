import Foundation
import KeyedArchive
import PropertyLists

/// A file of a format that is read here, opened.
protocol Document {
    /// The format in words.
    var formatName: String { get }
    /// The content for people.
    var outline: ArchiveOutline { get }
    /// The content as a property list that is written in `form`; `nil` for another format.
    func propertyList(for form: DocumentForm) -> PropertyListContent?
}

/// A format of documents.
protocol DocumentFormat {
    /// Opens a document; `nil` if the bytes are of another format.
    ///
    /// - Throws: the fault of bytes that are of this format.
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)?
}

/// Why the bytes of a document cannot be read: the fault and its place.
struct DocumentFault: Error {
    /// For people, without the place.
    let message: String
    /// In bytes from the start; `nil` if no place is to blame.
    let offset: Int?
    /// From 1, for a format that is text.
    let line: Int?

    init(_ message: String, offset: Int? = nil, line: Int? = nil) {
        self.message = message
        self.offset = offset
        self.line = line
    }

    /// - Parameter text: the bytes, if they are text.
    init(_ error: ArchiveError, inText text: Data? = nil) {
        let path = error.keyPath.isEmpty ? "" : ", at \(error.keyPath.joined(separator: "."))"
        self.init(
            error.message + path,
            offset: error.offset,
            line: error.offset.flatMap { offset in
                text.map { $0.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1 }
            }
        )
    }

    init(_ error: PropertyListError) {
        self.init(error.message, offset: error.offset, line: error.position?.line)
    }

    static let empty = DocumentFault("it is empty")

    static let unknownFormat = DocumentFault(
        "it is neither a property list, an archive nor a cache's entry"
    )

    /// The fault and its place.
    var phrase: String {
        let places = [line.map { "line \($0)" }, offset.map { "byte \($0)" }].compactMap(\.self)
        return "\(EscapedText(message, limit: 1_000))"
            + (places.isEmpty ? "" : ", at \(places.joined(separator: ", "))")
    }
}

/// The formats that are read here. A reader of another one is added to these lists, and nowhere else.
enum DocumentFormats {
    /// The use that a document is opened for.
    enum Purpose {
        case looking
        /// An archive whose objects are damaged is a property list all the same.
        case converting
        case checking

        fileprivate var formats: [any DocumentFormat.Type] {
            switch self {
            case .looking, .checking:
                [TypedStreamFormat.self, ArchiveFormat.self, JSONFormat.self, PropertyListDocuments.self]
            case .converting: [TypedStreamFormat.self, JSONFormat.self, PropertyListDocuments.self]
            }
        }
    }

    /// - Returns: `nil` if the bytes are of no format that is known.
    static func open(_ bytes: Data, for purpose: Purpose) throws(DocumentFault) -> (any Document)? {
        for format in purpose.formats {
            if let document = try format.open(bytes) { return document }
        }
        return nil
    }
}
