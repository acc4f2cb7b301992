import Foundation
import KeyedArchive

/// Property lists in the binary and the XML form.
enum PropertyListFormat: DocumentFormat {
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        do throws(ArchiveError) {
            let content = try PropertyListContent(bytes)
            return PropertyListDocument(formatName: formatName(of: content), content: content.value)
        } catch {
            if error.code == .unknownFormat { return nil }
            throw fault(error, of: bytes)
        }
    }

    fileprivate static func formatName(of content: PropertyListContent) -> String {
        content.isBinary ? "binary property list" : "XML property list"
    }

    /// The fault with its line, if the bytes are text.
    fileprivate static func fault(_ error: ArchiveError, of bytes: Data) -> DocumentFault {
        DocumentFault(error, inText: bytes.starts(with: Array("bplist".utf8)) ? nil : bytes)
    }
}

/// Keyed archives, which are property lists too.
enum ArchiveFormat: DocumentFormat {
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        do throws(ArchiveError) {
            return ArchiveDocument(tree: try ArchiveTree(sharing: bytes))
        } catch {
            if error.code == .unknownFormat { return nil }
            throw PropertyListFormat.fault(error, of: bytes)
        }
    }
}

private struct PropertyListDocument: Document {
    let formatName: String
    let content: PropertyListContent.Value

    var outline: ArchiveOutline {
        let root = ArchiveTree.Field(key: "root", value: content.withoutReferences)
        return ArchiveOutline(ArchiveTree(roots: [root], objects: [.empty]))
    }

    var propertyList: PropertyListContent.Value? { content }
}

private struct ArchiveDocument: Document {
    let tree: ArchiveTree

    var formatName: String { "keyed archive" }
    var outline: ArchiveOutline { ArchiveOutline(tree) }
    /// A conversion opens archives as property lists.
    var propertyList: PropertyListContent.Value? { nil }
}

extension PropertyListContent.Value {
    /// The value with references as XML writes them, for a list that has no objects to refer to.
    fileprivate var withoutReferences: Self {
        switch self {
        case .reference(let place): .dictionary([Field(key: "CF$UID", value: .integer(Int64(place)))])
        case .array(let members): .array(members.map(\.withoutReferences))
        case .set(let members): .set(members.map(\.withoutReferences))
        case .dictionary(let fields):
            .dictionary(fields.map { Field(key: $0.key, value: $0.value.withoutReferences) })
        default: self
        }
    }
}
