import Foundation
import KeyedArchive
import PropertyLists

/// Property lists in all forms: binary, XML, OpenStep's text with `.strings` files, GNUstep's text.
enum PropertyListDocuments: DocumentFormat {
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        do throws(PropertyListError) {
            var format: PropertyListFormat?
            let list = try PropertyList(bytes, format: &format)
            // Other formats have another rule for a key that is there twice, or none.
            let content = PropertyListContent(try list.withoutDuplicates(in: format ?? .openStep))
            return PropertyListDocument(formatName: name(of: format), content: content)
        } catch {
            if error.code == .unknownFormat || !hasMark(bytes) { return nil }
            throw DocumentFault(error)
        }
    }

    private static func name(of format: PropertyListFormat?) -> String {
        switch format {
        case .binary: "binary property list"
        case .xml: "XML property list"
        case .gnuStep: "GNUstep property list"
        default: "OpenStep property list"
        }
    }

    /// Whether bytes begin as property lists do; any word alone is one too, so that a fault elsewhere says little.
    private static func hasMark(_ bytes: Data) -> Bool {
        if bytes.starts(with: "bplist".utf8) { return true }
        // The marks of other encodings, and the blanks.
        let skipped: Set<UInt8> = [0, 0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF]
        guard let first = bytes.first(where: { !skipped.contains($0) }) else { return false }
        return "<{(\"'/".utf8.contains(first)
    }

    /// Whether bytes are a property list in a text form, and no archive.
    fileprivate static func isPlainText(_ bytes: Data) -> Bool {
        do throws(PropertyListError) {
            var format: PropertyListFormat?
            let list = try PropertyList(bytes, format: &format)
            return format != .binary && list["$archiver"] == nil
        } catch {
            return false
        }
    }
}

/// Keyed archives, which are property lists too.
enum ArchiveFormat: DocumentFormat {
    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        do throws(ArchiveError) {
            return ArchiveDocument(tree: try ArchiveTree(sharing: bytes))
        } catch {
            // Data in OpenStep's text begins with `<`, as markup does; and archives are read in fewer encodings.
            if error.code == .unknownFormat || PropertyListDocuments.isPlainText(bytes) { return nil }
            throw DocumentFault(error, inText: bytes.starts(with: "bplist".utf8) ? nil : bytes)
        }
    }
}

private struct PropertyListDocument: Document {
    let formatName: String
    let content: PropertyListContent

    var outline: ArchiveOutline {
        let root = ArchiveTree.Field(key: "root", value: content.withoutReferences)
        return ArchiveOutline(ArchiveTree(roots: [root], objects: [.empty]))
    }

    func propertyList(for form: DocumentForm) -> PropertyListContent? { content }
}

private struct ArchiveDocument: Document {
    let tree: ArchiveTree

    var formatName: String { "keyed archive" }
    var outline: ArchiveOutline { ArchiveOutline(tree) }
    /// A conversion opens archives as property lists.
    func propertyList(for form: DocumentForm) -> PropertyListContent? { nil }
}
