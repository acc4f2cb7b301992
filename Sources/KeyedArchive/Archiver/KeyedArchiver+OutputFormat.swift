import Foundation

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
    /// - Returns: the list in `format`; the bytes as they are if they are a binary list and that is asked for.
    /// - Throws: ``ArchiveError`` with code `.unsupportedFormat` for `.openStep`, and if the list is in an
    ///   encoding that is not read or declares entities of its own; `.unsupportedType` for values that XML cannot
    ///   hold; `.unknownFormat` if the bytes are no property list, `.corrupted` if they are damaged,
    ///   `.outOfRange` for integers beyond 64 bits, `.limitExceeded` if the list nests more than 512 deep, or
    ///   shares its parts so often that its XML would be far larger than it.
    /// - Complexity: O(*n*) in the bytes of the larger form.
    public static func convert(
        _ propertyList: Data,
        to format: PropertyListSerialization.PropertyListFormat
    ) throws(ArchiveError) -> Data {
        let bytes = propertyList.withUnsafeBytes { Array($0) }
        return try XMLPropertyList.reading(bytes) { list, origin throws(ArchiveError) in
            switch format {
            case .binary: return list.bytes.data(in: 0..<list.bytes.count)
            case .xml:
                do throws(ArchiveError) {
                    return Data(try XMLPropertyListWriter.xml(list))
                } catch {
                    throw origin?.located(error, in: list) ?? error
                }
            default: throw ArchiveError(.unsupportedFormat, "property lists are written as binary or XML only")
            }
        }
    }

    /// A finished binary archive in the format that is asked for.
    func formatted(_ archive: Data) throws(ArchiveError) -> Data {
        outputFormat == .binary ? archive : try Self.convert(archive, to: outputFormat)
    }
}
