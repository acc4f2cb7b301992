import Foundation
import PropertyLists

/// Property lists as they come from outside: the binary form is taken as it is, the XML form is made binary, so
/// that all readers know one form only.
enum XMLPropertyList {
    /// A list that can be read, and where its objects stood if it was XML.
    ///
    /// The list's bytes are the opened ones, or belong to the origin: it is valid as long as both are there.
    typealias Opened = (list: BinaryPropertyList, origin: XMLOrigin?)

    /// Opens a property list of either form. XML may have a byte order mark or white space in front.
    ///
    /// - Throws: `.unknownFormat` if it is neither form, `.corrupted` if it breaks the rules, `.limitExceeded` if it
    ///   nests more than 512 deep, or deeper than this thread's stack allows.
    /// - Complexity: O(1) for the binary form, O(*n*) for XML.
    static func open(_ bytes: ArchiveBytes) throws(ArchiveError) -> Opened {
        // One look at one byte is all that XML costs the binary form.
        if bytes.isBinary { return (try BinaryPropertyList(bytes), nil) }
        let xml = bytes.withBytes(in: 0..<bytes.count) { Array($0) }
        let (list, places) = try translatingErrors(of: xml) { () throws(PropertyListError) in
            try XMLConversion.binary(ofXML: xml)
        }
        let origin = XMLOrigin(list, places, lengthOfMark: lengthOfMark(xml))
        return (try BinaryPropertyList(origin.bytes), origin)
    }

    /// Opens a property list of either form, and has `body` read it. The list must not leave that.
    static func reading<Result>(
        _ bytes: [UInt8],
        _ body: (Opened) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            let opened = try open(ArchiveBytes(borrowing: buffer))
            return try withExtendedLifetime(opened.origin) { () throws(ArchiveError) in try body(opened) }
        }
    }

    /// Converts a list of either form.
    static func convert(_ list: Data, to format: PropertyListFormat) throws(ArchiveError) -> Data {
        // A list in a small file may refer to one container a million times.
        let limits = PropertyListLimits(values: 1 << 18 + list.count)
        return try translatingErrors(of: [UInt8](list.prefix(3))) { () throws(PropertyListError) in
            try PropertyList.convert(list, to: format, limits: limits)
        }
    }

    /// Gives the errors of `body` the offsets of the bytes that were read.
    private static func translatingErrors<Result>(
        of bytes: [UInt8],
        _ body: () throws(PropertyListError) -> Result
    ) throws(ArchiveError) -> Result {
        do throws(PropertyListError) {
            return try body()
        } catch {
            let code: ArchiveError.Code =
                switch error.code {
                case .unknownFormat: .unknownFormat
                case .limitExceeded: .limitExceeded
                case .notRepresentable: .unsupportedType
                default: .corrupted
                }
            throw ArchiveError(code, error.message, offset: error.offset.map { $0 + lengthOfMark(bytes) })
        }
    }

    /// The bytes of a mark of UTF-8, which offsets of lists do not count.
    private static func lengthOfMark(_ bytes: [UInt8]) -> Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}

/// Where the objects of a list that was XML stood there; has the bytes that the list was made of.
///
/// Unchecked: none of it ever changes.
final class XMLOrigin: @unchecked Sendable {
    private let binary: RawBuffer<UInt8>
    /// Each object's offset, by the object's number.
    private let places: [Int]
    private let lengthOfMark: Int

    init(_ list: Data, _ places: [Int], lengthOfMark: Int) {
        var binary = RawBuffer<UInt8>(capacity: list.count)
        list.withUnsafeBytes { $0.withMemoryRebound(to: UInt8.self) { binary.append(contentsOf: $0) } }
        self.binary = binary
        self.places = places
        self.lengthOfMark = lengthOfMark
    }

    /// The binary list's bytes, valid as long as this object is there.
    var bytes: ArchiveBytes { ArchiveBytes(borrowing: binary) }

    /// An error found in the binary list, with the offset in the XML of the object that it is about.
    func located(_ error: ArchiveError, in list: BinaryPropertyList) -> ArchiveError {
        guard let offset = error.offset else { return error }
        var nearest: (start: Int, object: Int)?
        for object in 0..<min(list.objectCount, places.count) {
            guard let start = try? list.offset(of: object), start <= offset else { continue }
            if start > nearest?.start ?? -1 { nearest = (start, object) }
        }
        return error.at(nearest.map { places[$0.object] + lengthOfMark })
    }
}
