import Foundation
import KeyedArchive
import SequentialArchive
import Testing

extension ScriptedTests {
    /// Points, sizes, rectangles and ranges, by themselves and as objects; and values that are encoded as one group.
    @Suite struct GeometryTests {
        /// Encodes and decodes with a coder of either kind.
        private func trial(
            isKeyed: Bool = false,
            _ encoding: @escaping (NSCoder) -> Void,
            _ decoding: @escaping (NSCoder) -> Void
        ) throws {
            Scripted.encoding = encoding
            Scripted.decoding = {
                decoding($0)
                return true
            }
            let data =
                isKeyed
                ? try KeyedArchiver.archivedData(withRootObject: Scripted())
                : try SequentialArchiver.archivedData(withRootObject: Scripted())
            let read =
                isKeyed
                ? try KeyedUnarchiver.unarchivedObject(ofClass: Scripted.self, from: data)
                : try SequentialUnarchiver.unarchivedObject(ofClass: Scripted.self, from: data)
            #expect(read != nil)
        }

        @Test(arguments: [false, true]) func structuresComeBackFromBothCoders(isKeyed: Bool) throws {
            try trial(isKeyed: isKeyed) { coder in
                coder.encodePoint(CGPoint(x: 1, y: -2.5))
                coder.encodeSize(CGSize(width: 1e6, height: 0.25))
                coder.encodeRect(CGRect(x: 1, y: 2, width: 3, height: 4.5))
                coder.encode("end" as Any?)
            } _: { coder in
                #expect(coder.decodePointValue() == CGPoint(x: 1, y: -2.5))
                #expect(coder.decodeSizeValue() == CGSize(width: 1e6, height: 0.25))
                #expect(coder.decodeRectValue() == CGRect(x: 1, y: 2, width: 3, height: 4.5))
                #expect(coder.decodeObject() as? String == "end")
            }
        }

        @Test func aPointHasTheBytesOfApplesArchiver() throws {
            let archiver = SequentialArchiver()
            archiver.encodePoint(CGPoint(x: 3, y: 0.5))
            let bytes = Array(try archiver.encodedData.dropFirst(16))
            #expect(bytes == [0x84, 13] + Array("{_NSPoint=ff}".utf8) + [3, 0x83, 0, 0, 0, 0x3F])
        }

        @Test func aPointIsReadFromDoublesAndFromSingleReals() throws {
            let doubles = TypedStream(
                groups: [
                    .init(types: "{CGPoint=dd}", values: [.structure([.integer(1), .double(0.1)])]),
                    .init(types: "f", values: [.integer(5)]), .init(types: "d", values: [.double(0.3)]),
                    .init(types: "{CGSize=ii}", values: [.structure([.integer(1), .integer(1)])]),
                ],
                objects: []
            )
            let unarchiver = try SequentialUnarchiver(forReadingWith: doubles.data())
            #expect(unarchiver.decodePointValue() == CGPoint(x: 1, y: 0.1))
            #expect(unarchiver.decodeSizeValue() == CGSize(width: 5, height: 0.3))
            #expect(unarchiver.decodeSizeValue() == .zero)
            #expect((unarchiver.error as? ArchiveError)?.code == .typeMismatch)
        }

        @Test func aCoordinateBeyondFloatsIsRefused() {
            let archiver = SequentialArchiver()
            archiver.encodePoint(CGPoint(x: 1e300, y: 0))
            #expect((archiver.error as? ArchiveError)?.code == .outOfRange)
            let infinite = SequentialArchiver()
            infinite.encodePoint(CGPoint(x: CGFloat.infinity, y: 0))
            #expect(infinite.error == nil)
        }

        @Test func valuesOfStructuresComeBackAsValues() throws {
            let point = NSValue(point: NSPoint(x: 1, y: 2.5))
            let values: [Any] = [
                point, point, CGSize(width: 3, height: 4), NSRange(location: 5, length: 6),
                NSValue(rect: NSRect(x: 1, y: 2, width: 3, height: 4)),
            ]
            let data = try SequentialArchiver.archivedData(withRootObject: values)
            let read = try #require(try SequentialUnarchiver.unarchivedObject(ofClass: [Any].self, from: data))
            #expect((read[0] as? NSValue)?.pointValue == NSPoint(x: 1, y: 2.5))
            #expect(read[0] as AnyObject === read[1] as AnyObject)
            #expect((read[2] as? NSValue)?.sizeValue == NSSize(width: 3, height: 4))
            #expect((read[3] as? NSValue)?.rangeValue == NSRange(location: 5, length: 6))
            #expect((read[4] as? NSValue)?.rectValue == NSRect(x: 1, y: 2, width: 3, height: 4))
            #expect(try SequentialArchiver.archivedData(withRootObject: read) == data)
        }

        @Test func aGroupOfValuesIsOneGroup() throws {
            let archiver = SequentialArchiver()
            var number: Int32 = 7
            var real = 0.5
            withUnsafePointer(to: &number) { number in
                withUnsafePointer(to: &real) { real in
                    archiver.encodeValues(
                        ofObjCTypes: "id",
                        at: [UnsafeRawPointer(number), UnsafeRawPointer(real)]
                    )
                }
            }
            let data = try archiver.encodedData
            #expect(
                try TypedStream(data).groups == [.init(types: "id", values: [.integer(7), .double(0.5)])]
            )
            let unarchiver = try SequentialUnarchiver(forReadingWith: data)
            number = 0
            real = 0
            withUnsafeMutablePointer(to: &number) { number in
                withUnsafeMutablePointer(to: &real) { real in
                    unarchiver.decodeValues(
                        ofObjCTypes: "id",
                        at: [UnsafeMutableRawPointer(number), UnsafeMutableRawPointer(real)]
                    )
                }
            }
            #expect(number == 7)
            #expect(real == 0.5)
            #expect(unarchiver.isAtEnd)
        }

        @Test func valuesByTypeWorkInKeyedArchivesToo() throws {
            try trial(isKeyed: true) { coder in
                "naïve".withCString { text in
                    var pointer: UnsafePointer<CChar>? = text
                    coder.encodeValue(ofObjCType: "*", at: &pointer)
                    coder.encodeValue(ofObjCType: ":", at: &pointer)
                }
                var none: UnsafePointer<CChar>?
                coder.encodeValue(ofObjCType: "*", at: &none)
                coder.encodeBytes([1, 2] as [UInt8], length: 2)
                coder.encodeBytes(nil, length: 0)
                coder.encode(Data([4]))
            } _: { coder in
                var text: UnsafePointer<CChar>?
                coder.decodeValue(ofObjCType: "*", at: &text)
                #expect(text.map { String(cString: $0) } == "naïve")
                coder.decodeValue(ofObjCType: ":", at: &text)
                #expect(text.map { String(cString: $0) } == "naïve")
                coder.decodeValue(ofObjCType: "*", at: &text)
                #expect(text == nil)
                var count = 0
                for expected in [[1, 2], []] as [[UInt8]] {
                    let bytes = (coder as? KeyedUnarchiver)?.decodeBytes(withReturnedLength: &count)
                    #expect(bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } == expected)
                }
                #expect(coder.decodeData() == Data([4]))
            }
        }

        @Test func structuresAreRefusedInKeyedArchives() throws {
            let archiver = KeyedArchiver(requiringSecureCoding: false)
            var point = (1.0, 2.0)
            archiver.encodeValue(ofObjCType: "{CGPoint=dd}", at: &point)
            #expect((archiver.error as? ArchiveError)?.code == .unsupportedType)
        }

        @Test func somethingElseThanATextIsNoCString() throws {
            let archiver = KeyedArchiver(requiringSecureCoding: false)
            archiver.encode(1 as Any?)
            try archiver.finishEncoding()
            let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
            var text: UnsafePointer<CChar>?
            unarchiver.decodeValue(ofObjCType: "*", at: &text)
            #expect(text == nil)
            #expect((unarchiver.error as? ArchiveError)?.code == .typeMismatch)
        }
    }
}
