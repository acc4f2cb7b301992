import Foundation

/// XML lists for readers that know the binary format alone.
package enum XMLConversion {
    /// The binary form of an XML list. O(*n*) in the bytes.
    ///
    /// - Returns: the binary list, and by number of each of its objects the byte of the XML where it stood, as
    ///   ``PropertyListError/offset`` counts; no places for a list with a key that is there twice.
    /// - Throws: ``PropertyListError``, with code `.unknownFormat` for a list in another format.
    package static func binary(ofXML xml: [UInt8]) throws(PropertyListError) -> (list: Data, places: [Int]) {
        let unknown = PropertyListError(.unknownFormat, "neither a binary nor an XML property list", offset: 0)
        let text: [UInt8]
        do throws(PropertyListError) {
            text = try TextEncoding.utf8(of: xml)
        } catch {
            // Other files are not text either.
            throw xml.starts(with: [0xFE, 0xFF]) || xml.starts(with: [0xFF, 0xFE]) || TextEncoding.isXML(xml)
                ? error : unknown
        }
        guard TextEncoding.isXML(text) else { throw unknown }
        let limits = PropertyListLimits()
        guard text.count <= limits.bytes else {
            throw PropertyListError(.limitExceeded, "more than \(limits.bytes) bytes", offset: limits.bytes)
        }
        let table = try XMLReader.read(text, limits: limits)
        // Another value of that key counts in binary lists.
        if table.hasDuplicates {
            var reader = TreeReader(table)
            let list = try reader.tree(table.nodes[NodeTable.root]).withoutDuplicates(in: .xml)
            return (try list.data(format: .binary), [])
        }
        return try BinaryWriter.writeWithPlaces(table)
    }
}
