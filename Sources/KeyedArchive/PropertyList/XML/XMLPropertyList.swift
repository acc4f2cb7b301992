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
    typealias Opened = (list: BinaryPropertyList, origin: XMLOrigin?)

    /// Opens a property list of either form. XML may have a byte order mark or white space in front.
    ///
    /// - Throws: `.unknownFormat` if it is neither form, `.unsupportedFormat` for encodings other than UTF-8 and
    ///   UTF-16 with a byte order mark and for XML with declarations of its own, `.corrupted` if it breaks the
    ///   rules, `.outOfRange` for integers beyond 64 bits, `.limitExceeded` if it nests more than 512 deep.
    /// - Complexity: O(1) for the binary form, O(*n*) for XML.
    static func open(_ bytes: ArchiveBytes) throws(ArchiveError) -> Opened {
        // One look at one byte is all that XML costs the binary form.
        if bytes.count > 0, bytes[0] == 0x62 { return (try BinaryPropertyList(bytes), nil) }
        return try parse(bytes.withBytes(in: 0..<bytes.count) { Array($0) })
    }

    /// Opens a property list of either form, and copies its bytes.
    static func open(_ bytes: [UInt8]) throws(ArchiveError) -> Opened { try open(ArchiveBytes(copying: bytes)) }

    private static func parse(_ bytes: [UInt8]) throws(ArchiveError) -> Opened {
        let text = try XMLText(bytes)
        do throws(ArchiveError) {
            var parser = XMLPropertyListParser(text)
            let (binary, places) = try parser.parse()
            return (try BinaryPropertyList(binary), XMLOrigin(places, in: text))
        } catch {
            throw error.at(error.offset.map(text.place(of:)))
        }
    }
}

/// Where the objects of a list that was XML stood there.
final class XMLOrigin: Sendable {
    /// Each object's offset in UTF-8, by the object's number.
    private let places: [Int]
    /// Needed only where offsets in UTF-8 are not the original ones.
    private let text: XMLText?

    init(_ places: [Int], in text: XMLText) {
        self.places = places
        self.text = text.isTranscoded ? text : nil
    }

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
