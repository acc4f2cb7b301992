import Foundation
import PropertyLists

extension KeyedArchiver {
    /// Converts an archive, or any other property list, to the binary or the XML form.
    ///
    /// XML cannot hold some values of the binary form: see ``outputFormat``.
    ///
    /// ```swift
    /// let text = try KeyedArchiver.convert(KeyedArchiver.archivedData(encoding: city), to: .xml)
    /// ```
    ///
    /// - Parameters:
    ///   - propertyList: a property list in the binary or the XML form.
    ///   - format: `.binary` or `.xml`.
    /// - Returns: the list in `format`; the same bytes for a binary list and `.binary`.
    /// - Throws: ``ArchiveError`` with code `.unsupportedFormat` for another `format`; `.unsupportedType` for values
    ///   that XML cannot hold; `.unknownFormat` if the bytes are not a property list, `.corrupted` if they are damaged,
    ///   `.limitExceeded` if the list nests more than 512 deep, or deeper than this thread's stack allows, or shares its
    ///   parts so often that its XML would be far larger than it.
    /// - Complexity: O(*n*) in the bytes of the larger form.
    public static func convert(
        _ propertyList: Data,
        to format: PropertyListFormat
    ) throws(ArchiveError) -> Data {
        guard format == .binary || format == .xml else {
            throw ArchiveError(.unsupportedFormat, "property lists are written as binary or XML only")
        }
        return try XMLPropertyList.reading([UInt8](propertyList)) { list, origin throws(ArchiveError) in
            if format == .binary { return list.bytes.data(in: 0..<list.bytes.count) }
            return try XMLPropertyList.convert(propertyList, to: format)
        }
    }

    /// A finished binary archive in the format that is asked for.
    func formatted(_ archive: Data) throws(ArchiveError) -> Data {
        outputFormat == .binary ? archive : try Self.convert(archive, to: outputFormat)
    }
}
