import Foundation
import KeyedArchive

/// JSON as a property list; a null, which most forms of property lists cannot hold, is found when it is written.
enum JSONFormat: DocumentFormat {
    private static let limits = RecordLimits(bytes: 1 << 30, values: 1 << 26)

    static func open(_ bytes: Data) throws(DocumentFault) -> (any Document)? {
        let blanks = Array(" \t\r\n".utf8)
        // A slice: the span of an array needs newer systems. A byte order mark is not a part of the text.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = [UInt8](bytes)[(bytes.starts(with: mark) ? mark.count : 0)...]
        guard let first = text.first(where: { !blanks.contains($0) }),
            Array("{[\"-0123456789tfn".utf8).contains(first)
        else { return nil }
        var parser = JSONParser(limits: limits)
        do throws(JSONError) {
            return JSONDocument(propertyList: PropertyListContent(try parser.parse(text.span)))
        } catch {
            let line = text.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
            let fault = DocumentFault(error.code.phrase, offset: text.startIndex + error.offset, line: line)
            // OpenStep's text begins with the same characters. The fault of the reader that came further is told.
            do throws(DocumentFault) {
                if let list = try PropertyListDocuments.open(bytes) { return list }
            } catch {
                if let offset = error.offset, offset > fault.offset ?? 0 { throw error }
            }
            // A word or a number alone says little.
            guard "{[\"".utf8.contains(first) else { return nil }
            throw fault
        }
    }
}

private struct JSONDocument: Document {
    private let content: PropertyListContent?

    init(propertyList: PropertyListContent?) { content = propertyList }

    var formatName: String { "JSON" }
    func propertyList(for form: DocumentForm) -> PropertyListContent? { content }

    var outline: ArchiveOutline {
        let root = ArchiveTree.Field(key: "root", value: content ?? .null)
        return ArchiveOutline(ArchiveTree(roots: [root], objects: [.empty]))
    }
}
