import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Binary lists become XML that others read, and come back the same.
@Suite struct XMLWritingTests {
    private static var archives: [(name: String, data: Data)] {
        get throws {
            let base = Base(title: "shared & <escaped>\r\n\t\"quoted\" ]]>")
            return [
                ("everything", try KeyedArchiver.archivedData(withRootObject: Everything())),
                ("pair", try KeyedArchiver.archivedData(withRootObject: Pair(base, base))),
                ("city", try KeyedArchiver.archivedData(encoding: Samples.city)),
                (
                    "text",
                    try KeyedArchiver.archivedData(withRootObject: ["Lavāsān 🏙", "", " ", "\u{7F}\u{85}\u{2028}"])
                ),
                ("data", try KeyedArchiver.archivedData(withRootObject: (0...200).map { Data(0..<UInt8($0)) })),
                (
                    "numbers",
                    try KeyedArchiver.archivedData(
                        withRootObject: [
                            Int64.min, -1, 0, 1 << 40, UInt64.max, 0.1, -0.0, 1e300, Double.leastNonzeroMagnitude,
                            Float(0.1),
                        ]
                            + [Double.infinity, -Double.infinity, Double.nan] as [Any]
                    )
                ),
            ]
        }
    }

    @Test func othersReadTheXML() throws {
        let pairs = try Self.archives.map { ($0.name, $0.data, try KeyedArchiver.convert($0.data, to: .xml)) }
        #expect(try Tool.differences(pairs) == [])
        for (name, binary, xml) in pairs {
            var format = PropertyListSerialization.PropertyListFormat.binary
            let list = try PropertyListSerialization.propertyList(from: xml, format: &format)
            #expect(format == .xml)
            let back = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            #expect(try Tool.differences([(name, binary, back)]) == [])
            #expect(try Tool.run(Tool.plutil, ["-lint"], file: xml).hasSuffix(": OK\n"))
        }
    }

    @Test func theWayBackGivesTheSame() throws {
        for (name, binary) in try Self.archives {
            let xml = try KeyedArchiver.convert(binary, to: .xml)
            let back = try KeyedArchiver.convert(xml, to: .binary)
            #expect(try Tool.differences([(name, binary, back)]) == [])
            #expect(try KeyedArchiver.convert(back, to: .xml) == xml, "\(name)")
            #expect(try KeyedArchiver.convert(xml, to: .xml) == xml, "\(name)")
            #expect(try KeyedArchiver.convert(binary, to: .binary) == binary, "\(name)")
        }
    }

    @Test func datesAreThoseOfPython() throws {
        // The days around the end of February of every hundredth year, and of some in between.
        var builder = PropertyListBuilder()
        var members: [BinaryPropertyListWriter.Reference] = []
        for century in 0..<99 {
            for step in -8...8 {
                for day in [(century + 1) * 146_097 / 4 - 306 + step, century * 36_524 + 59 + step] {
                    let seconds = (day - 730_485) * 86_400 + day % 86_400
                    members.append(builder.list.add(date: Double(seconds)))
                }
            }
        }
        let binary = Data(builder.finish(top: builder.add(array: members)))
        let xml = try KeyedArchiver.convert(binary, to: .xml)
        let back = try KeyedArchiver.convert(xml, to: .binary)
        #expect(try Tool.differences([("written", binary, xml), ("read", xml, back)]) == [])
    }

    @Test func archivesInXMLAreUnarchived() throws {
        let archiver = KeyedArchiver()
        archiver.outputFormat = .xml
        archiver.encode(Derived(title: "Lavāsān", count: 7), forKey: "root")
        let xml = try archiver.encodedData
        #expect(
            String(decoding: xml, as: UTF8.self).contains(
                "\t\t\t<key>title</key>\n\t\t\t<dict>\n\t\t\t\t<key>CF$UID</key>"
            )
        )
        for bytes in [xml, Data("\u{FEFF}".utf8) + xml, Data("\n ".utf8) + xml] {
            let object = try KeyedUnarchiver.unarchivedRoot(ofClass: Derived.self, from: bytes)
            #expect(object.title == "Lavāsān")
            #expect(object.count == 7)
            #expect(try ArchiveTree([UInt8](bytes)).roots.count == 1)
        }
        let city = try KeyedArchiver.convert(KeyedArchiver.archivedData(encoding: Samples.city), to: .xml)
        #expect(try KeyedUnarchiver.unarchivedValue(of: City.self, from: city) == Samples.city)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: xml)
        unarchiver.requiresSecureCoding = false
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? Derived
        #expect(object?.count == 7)
    }

    @Test func otherFormatsAreAnErrorAtTheEnd() throws {
        let archiver = KeyedArchiver()
        archiver.outputFormat = .openStep
        archiver.encode(1, forKey: "root")
        #expect(code { try archiver.encodedData } == .unsupportedFormat)
        // A second call fails as well.
        #expect(code { try archiver.encodedData } == .unsupportedFormat)
    }

    @Test(arguments: ["a\u{1}", "\u{8}", "\u{B}", "\u{1F}b", "\u{FFFE}", "\u{FFFF}"])
    func charactersThatXMLForbidsAreReferences(_ text: String) throws {
        let archiver = KeyedArchiver()
        archiver.outputFormat = .xml
        archiver.encode(text as Any, forKey: "root")
        archiver.encode(1, forKey: text)
        let xml = try archiver.encodedData
        #expect(String(decoding: xml, as: UTF8.self).contains("&#"))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: xml)
        #expect(unarchiver.decodeObject(forKey: "root") as? String == text)
        #expect(unarchiver.decodeInteger(forKey: text) == 1)
    }

    @Test func aZeroByteIsRefused() throws {
        let archiver = KeyedArchiver()
        archiver.outputFormat = .xml
        archiver.encode("\u{0}" as Any, forKey: "root")
        #expect(code { try archiver.encodedData } == .unsupportedType)
    }

    @Test func whatXMLHasNoRoomForIsRefused() throws {
        func list(_ body: (inout BinaryPropertyListWriter) -> BinaryPropertyListWriter.Reference) -> Data {
            var list = BinaryPropertyListWriter()
            let top = body(&list)
            list.finish(top: top)
            return list.bytes.withElements { Data($0) }
        }
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -63_113_904_001, 252_423_993_600] {
            let date = list { $0.add(date: seconds) }
            let expected: ArchiveError.Code = seconds.isFinite ? .unsupportedType : .corrupted
            #expect(code { try KeyedArchiver.convert(date, to: .xml) } == expected, "\(seconds)")
        }
        let rounded = try KeyedArchiver.convert(list { $0.add(date: -0.25) }, to: .xml)
        #expect(String(decoding: rounded, as: UTF8.self).contains("<date>2000-12-31T23:59:59Z</date>"))
        let likeUID = list { list in
            var pairs = RawBuffer<KeyedReference>(capacity: 1)
            let key = Array("CF$UID".utf8).withUnsafeBufferPointer { list.add(ascii: $0, as: .name) }
            pairs.append(KeyedReference(key: key, value: list.add(1 as Int64)))
            let made = list.reserveContainer()
            list.fillDictionary(made, pairs, from: 0)
            return made
        }
        #expect(code { try KeyedArchiver.convert(likeUID, to: .xml) } == .unsupportedType)
    }

    @Test func sharedContainersDoNotMultiply() throws {
        for depth in isLongRun ? [20, 40, 400, 600] : [20, 600] {
            var list = BinaryPropertyListWriter()
            var made = list.reserveContainer()
            list.fillArray(made, count: 0)
            for _ in 0..<depth {
                let outer = list.reserveContainer()
                list.fillArray(outer, count: 2)
                list.addElement(made)
                list.addElement(made)
                made = outer
            }
            list.finish(top: made)
            let bytes = list.bytes.withElements { Data($0) }
            #expect(code { try KeyedArchiver.convert(bytes, to: .xml) } == .limitExceeded, "\(depth)")
        }
    }

    // MARK: Damage

    private static let sample = """
        \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><!-- comment --><dict><key>$archiver</key><string>NSKeyedArchiver</string>
        <key>$version</key><integer>100000</integer><key>$top</key><dict><key>root</key><dict><key>CF$UID</key>
        <integer>0x1</integer></dict></dict><key>$objects</key><array><string>$null</string><dict><key>$class</key>
        <dict><key>CF$UID</key><integer>2</integer></dict><key>x</key><real>1.5</real><key>y</key><real>-2</real>
        <key>date</key><date>2001-01-01T00:00:00Z</date><key>data</key><data> AAEC</data>
        <key><![CDATA[a&b]]></key><true/></dict><dict><key>$classname</key><string>KeyedArchiveTests.Point</string>
        <key>$classes</key><array><string>KeyedArchiveTests.Point</string><string>NSObject</string></array></dict>
        </array></dict></plist>
        """

    private func read(_ bytes: [UInt8]) -> Bool {
        do {
            let point = try KeyedUnarchiver.unarchive(Point.self, from: bytes)
            return point.x == 1.5
        } catch {
            return false
        }
    }

    @Test func everyTruncationIsNoticed() throws {
        let bytes = Array(Self.sample.utf8)
        #expect(read(bytes))
        for length in 0..<bytes.count {
            let cut = Array(bytes[..<length])
            let error = #expect(throws: ArchiveError.self, "\(length)") {
                try XMLPropertyList.reading(cut) { _ throws(ArchiveError) in }
            }
            #expect(error?.offset ?? -1 <= length)
        }
        let units = String(Self.sample.dropFirst()).utf16Bytes(isBigEndian: false)
        #expect(read(units))
        for length in 0..<units.count {
            #expect(throws: ArchiveError.self, "\(length)") {
                try XMLPropertyList.reading(Array(units[..<length])) { _ throws(ArchiveError) in }
            }
        }
    }

    @Test func noChangedByteTraps() throws {
        let bytes = Array(Self.sample.utf8)
        let changes: [UInt8] = isLongRun ? (0..<8).map { 1 << $0 } + [0xFF] : [0x01, 0x10, 0xFF]
        var refused = 0
        for at in bytes.indices {
            for change in changes {
                var changed = bytes
                changed[at] ^= change
                if !read(changed) { refused += 1 }
            }
        }
        #expect(refused > bytes.count * changes.count * 4 / 9)
    }

    @Test func offsetsAreThoseOfTheXML() throws {
        let text = Self.sample.replacing("KeyedArchiveTests.Point</string>\n", with: "Elsewhere.Point</string>\n")
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchive(Point.self, from: Array(text.utf8))
        }
        #expect(error?.code == .classNotAllowed)
        let object = try #require(text.range(of: "<dict><key>$class</key>"))
        #expect(error?.offset == text.utf8.distance(from: text.startIndex, to: object.lowerBound))
        let version = Self.sample.replacing("100000", with: "100001")
        let place = try #require(version.range(of: "<integer>100001"))
        let other = #expect(throws: ArchiveError.self) { try ArchiveTree(Array(version.utf8)) }
        #expect(other?.code == .unsupportedFormat)
        #expect(other?.offset == version.utf8.distance(from: version.startIndex, to: place.lowerBound))
    }
}
