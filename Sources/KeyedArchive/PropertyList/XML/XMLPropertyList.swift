// XML property list, version 1:
//
//     <?xml version="1.0" encoding="UTF-8"?>
//     <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
//     <plist version="1.0">
//         one value: <true/> <false/> <integer>1</integer> <real>0.5</real> <string>a &amp; b</string>
//                    <date>2001-01-01T00:00:00Z</date> <data>base64</data>
//                    <array>values</array> <dict><key>name</key> value …</dict>
//     </plist>
//
// A keyed archive's UID is <dict><key>CF$UID</key><integer>1</integer></dict>.

/// Property lists as they come from outside: the binary form is taken as it is, the XML form is made binary, so
/// that all readers know one form only.
enum XMLPropertyList {
    /// How deep containers may nest, as in Foundation.
    static let depthLimit = 512

    /// A list that can be read, and where its objects stood if it was XML.
    ///
    /// The list's bytes are those that were opened, or belong to the origin: it is valid as long as both are there.
    typealias Opened = (list: BinaryPropertyList, origin: XMLOrigin?)

    /// Opens a property list of either form. XML may have a byte order mark or white space in front.
    ///
    /// - Throws: `.unknownFormat` if it is neither form, `.unsupportedFormat` for encodings other than UTF-8 and
    ///   UTF-16 with a byte order mark and for XML with declarations of its own, `.corrupted` if it breaks the
    ///   rules, `.outOfRange` for integers beyond 64 bits, `.limitExceeded` if it nests more than 512 deep.
    /// - Complexity: O(1) for the binary form, O(*n*) for XML.
    static func open(_ bytes: ArchiveBytes) throws(ArchiveError) -> Opened {
        // One look at one byte is all that XML costs the binary form.
        if bytes.isBinary { return (try BinaryPropertyList(bytes), nil) }
        return try parse(bytes.withBytes(in: 0..<bytes.count) { Array($0) })
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

    private static func parse(_ bytes: [UInt8]) throws(ArchiveError) -> Opened {
        let text = try XMLText(bytes)
        do throws(ArchiveError) {
            var parser = XMLPropertyListParser(text)
            let (binary, places) = try parser.parse()
            let origin = XMLOrigin(places, in: text, binary: binary)
            return (try BinaryPropertyList(origin.bytes), origin)
        } catch {
            throw error.at(error.offset.map(text.place(of:)))
        }
    }
}

/// Where the objects of a list that was XML stood there; has the bytes that the list was made of.
///
/// Unchecked: none of it ever changes.
final class XMLOrigin: @unchecked Sendable {
    private let binary: RawBuffer<UInt8>
    /// Each object's offset in UTF-8, by the object's number.
    private let places: [Int]
    /// Needed only where offsets in UTF-8 are not the original ones.
    private let text: XMLText?

    init(_ places: [Int], in text: XMLText, binary bytes: [UInt8]) {
        var binary = RawBuffer<UInt8>(capacity: bytes.count)
        bytes.withUnsafeBufferPointer { binary.append(contentsOf: $0) }
        self.binary = binary
        self.places = places
        self.text = text.isTranscoded ? text : nil
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
        return error.at(nearest.map { text?.place(of: places[$0.object]) ?? places[$0.object] })
    }
}
