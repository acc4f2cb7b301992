import Foundation
import TestSupport
import Testing

@testable import PropertyLists

struct RoundTripTests {
    @Test(arguments: PropertyListFormat.allCases)
    func everyFormatReadsWhatItWrites(format: PropertyListFormat) throws {
        for seed in seeds(0..<150) {
            var random = RandomPropertyList(seed: seed, format: format)
            let list = random.list()
            let data = try list.data(format: format)
            #expect(try PropertyList(data) == list, "seed \(seed)")
        }
    }

    @Test(arguments: PropertyListFormat.allCases, PropertyListFormat.allCases)
    func everyFormatConvertsToEveryOther(from: PropertyListFormat, to: PropertyListFormat) throws {
        let poorer: PropertyListFormat = from == .openStep || to == .openStep ? .openStep : .gnuStep
        for seed in seeds(0..<40) {
            var random = RandomPropertyList(seed: seed, format: poorer)
            let list = random.list()
            let converted = try PropertyList.convert(list.data(format: from), to: to)
            #expect(try PropertyList(converted) == list, "seed \(seed)")
        }
    }

    /// The first value of a key counts in binary lists, the last one in text.
    @Test(arguments: PropertyListFormat.allCases, PropertyListFormat.allCases)
    func theSameValueOfAKeyCountsInEveryFormat(from: PropertyListFormat, to: PropertyListFormat) throws {
        let texts = ["1", "2", "3"].map { PropertyList(.string($0)) }
        let inner = PropertyList(.dictionary(zip(["a", "b", "a"], texts).map { .init(key: $0, value: $1) }))
        let outer = PropertyList(.dictionary([.init(key: "c", value: inner), .init(key: "d", value: texts[0])]))
        for list in [inner, outer, PropertyList(.array([inner, outer, inner]))] {
            let data = try list.data(format: from)
            let converted = try PropertyList.convert(data, to: to)
            let back = try PropertyList.convert(converted, to: from)
            let expected = try PropertyListObjects.propertyList(from: data)
            for other in [converted, back] {
                #expect(try isEqual(PropertyListObjects.propertyList(from: other), expected))
            }
        }
        let data = try PropertyList.convert(inner.data(format: from), to: to)
        let values = try PropertyListCoder().decode([String: String].self, from: data)
        #expect(values == ["a": from == .binary ? "1" : "3", "b": "2"])
    }

    /// Random dates seldom meet a leap day of a century.
    @Test(arguments: [
        (4, true), (100, false), (400, true), (1900, false), (2000, true), (2001, false), (2004, true),
        (2100, false),
        (2400, true), (9999, false),
    ])
    func leapYearsHaveALeapDay(year: Int, isLeap: Bool) throws {
        let digits = String(10_000 + year).dropFirst()
        let data = Data("<plist version=\"1.0\"><date>\(digits)-02-29T00:00:00Z</date></plist>".utf8)
        guard isLeap else {
            #expect(throws: PropertyListError.self) { try PropertyList(data) }
            return
        }
        let list = try PropertyList(data)
        #expect(try PropertyList(list.data(format: .xml)) == list)
        #expect(String(decoding: try list.data(format: .xml), as: UTF8.self).contains("\(digits)-02-29T"))
    }

    /// Escapes, and encodings that an XML declaration names.
    @Test(arguments: [
        ("\\U00e9", "\u{E9}"), ("\\Ue9 ", "\u{E9} "), ("\\u00e9", "\u{E9}"), ("\\ud83d\\ude00", "\u{1F600}"),
        ("\\u", "u"),
        ("\\ux", "ux"), ("\\200\\350", "\u{A0}\u{141}"), ("\\8", "8"), ("\\x41", "x41"),
    ])
    func escapesAreRead(escaped: String, expected: String) throws {
        #expect(try PropertyList(Data("\"\(escaped)\"".utf8)).value == .string(expected))
    }

    @Test func windows1252IsRead() throws {
        func list(_ bytes: [UInt8]) -> Data {
            let declaration = "<?xml version=\"1.0\" encoding=\"windows-1252\"?><plist version=\"1.0\"><string>"
            return Data(Array(declaration.utf8) + bytes + Array("</string></plist>".utf8))
        }
        let undefined: Set<UInt8> = [0x81, 0x8D, 0x8F, 0x90, 0x9D]
        for byte in 0x80...0xFF as ClosedRange<UInt8> {
            let data = list([0x61, byte])
            if undefined.contains(byte) {
                let error = #expect(throws: PropertyListError.self) { try PropertyList(data) }
                #expect(error?.code == .corrupted)
                continue
            }
            let expected = try #require(String(bytes: [0x61, byte], encoding: .windowsCP1252))
            #expect(try PropertyList(data).value == .string(expected), "\(byte)")
        }
    }

    @Test(arguments: [PropertyListFormat.binary, .xml, .openStep])
    func foundationReadsTheSame(format: PropertyListFormat) throws {
        for seed in seeds(0..<100) {
            var random = RandomPropertyList(seed: seed, format: format)
            let data = try random.list().data(format: format)
            let theirs = try PropertyListSerialization.propertyList(from: data, format: nil)
            let ours = try PropertyListObjects.propertyList(from: data)
            #expect(isEqual(ours, theirs), "seed \(seed)")
        }
    }

    @Test(arguments: [PropertyListFormat.binary, .xml])
    func readsWhatFoundationWrites(format: PropertyListFormat) throws {
        for seed in seeds(0..<100) {
            var random = RandomPropertyList(seed: seed, format: format)
            let data = try random.list().data(format: format)
            let object = try PropertyListObjects.propertyList(from: data)
            let theirs = try PropertyListSerialization.data(
                fromPropertyList: object,
                format: format == .binary ? .binary : .xml,
                options: 0
            )
            #expect(
                isEqual(try PropertyListObjects.propertyList(from: theirs), object),
                "seed \(seed)"
            )
            let written = try PropertyListObjects.data(fromPropertyList: object, format: format)
            #expect(
                isEqual(try PropertyListObjects.propertyList(from: written), object),
                "seed \(seed)"
            )
        }
    }

    @Test(arguments: PropertyListFormat.allCases)
    func textThatBeginsAsBinaryListsDoComesBack(format: PropertyListFormat) throws {
        for text in ["bplist", "bplist00", "bplist15"] {
            let list = PropertyList(.string(text))
            #expect(try PropertyList(list.data(format: format)) == list)
        }
    }

    @Test func sharedObjectsStandOnce() throws {
        let list = PropertyList(.array((0..<100).map { _ in PropertyList(.string("a text of some length")) }))
        #expect(try list.data(format: .binary).count < 200)
    }

    @Test func pythonReadsWhatIsWritten() throws {
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else {
            return print("no python3: skipped")
        }
        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for seed in 0..<20 {
            var random = RandomPropertyList(seed: seed, format: .openStep, isForPython: true)
            let list = PropertyList(.array([random.list(), PropertyList(.integer(-5)), PropertyList(.real(0.1))]))
            try list.data(format: .binary).write(to: folder.appendingPathComponent("\(seed).binary"))
            try list.data(format: .xml).write(to: folder.appendingPathComponent("\(seed).xml"))
        }
        python.arguments = [
            "-c",
            """
            import plistlib, sys
            for seed in range(20):
                binary, xml = (plistlib.load(open(f'{sys.argv[1]}/{seed}.{name}', 'rb')) for name in ('binary', 'xml'))
                assert binary == xml and binary[1:] == [-5, 0.1], seed
            """, folder.path,
        ]
        try python.start()
        python.waitUntilExit()
        #expect(python.terminationStatus == 0)
    }

    /// In fewer digits it would be another number for readers, which know no floats there.
    @Test(arguments: [PropertyListFormat.xml, .gnuStep, .binary])
    func aFloatIsTheSameNumberInEachFormat(format: PropertyListFormat) throws {
        let floats: [Float] = [0.1, 3.4e38, -1.5]
        let binary = try PropertyListCoder(outputFormat: .binary).encode(floats)
        let converted = try PropertyList.convert(binary, to: format)
        #expect(try PropertyListCoder().decode([Double].self, from: converted) == floats.map(Double.init))
        #expect(try PropertyListCoder().decode([Float].self, from: converted) == floats)
    }
}
