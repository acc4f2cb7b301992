import Foundation
import SequentialArchive
import TestSupport
import Testing

/// The Python package pytypedstream, an independent reader of the format, judges the bytes.
@Suite(.enabled(if: PyTypedStream.isThere, "Scripts/test installs pytypedstream"))
struct InteroperabilityTests {
    private func read(_ object: Any) throws -> String { try read([object], byteOrder: .little)[0] }

    private func read(_ objects: [Any], byteOrder: TypedStream.ByteOrder) throws -> [String] {
        let archives = try objects.map { object in
            let archiver = SequentialArchiver(byteOrder: byteOrder)
            archiver.encodeRootObject(object)
            return try archiver.encodedData
        }
        let texts = try PyTypedStream.read(archives)
        try #require(texts.count == objects.count)
        return texts
    }

    @Test(arguments: [TypedStream.ByteOrder.little, .big])
    func itReadsTheValuesThatWeWrite(order: TypedStream.ByteOrder) throws {
        let values: [(Any, String)] = [
            ("Lavāsān 🏙", "'Lavāsān 🏙'"),
            (NSMutableString(string: "m"), "'m'"),
            (true, "1"), (-1, "-1"), (127, "127"), (-110, "-110"), (-111, "-111"), (40_000, "40000"),
            (UInt32.max, "4294967295"), (UInt16.max, "65535"), (Int32.min, "-2147483648"),
            (0.1, "0.1"), (-0.0, "-0.0"), (3.0, "3.0"), (1e300, "1e+300"), (Float(0.5), "0.5"),
            (Data([1, 2, 255]), "b'\\x01\\x02\\xff'"), (Data(), "b''"),
            (Date(timeIntervalSinceReferenceDate: 100.25), "date 100.25"),
            (["a", 1, "a"] as [Any], "['a', 1, 'a']"),
            (["k": ["n"]], "{'k': ['n']}"),
            (Set(["s"]), "['s']"),
            ([Any](), "[]"),
        ]
        let url = try #require(URL(string: "d", relativeTo: URL(string: "https://a.b/")))
        let expected = values.map(\.1) + ["url 'https://a.b/' 'd'"]
        for (text, expected) in zip(try read(values.map(\.0) + [url], byteOrder: order), expected) {
            #expect(text == expected)
        }
    }

    @Test func itSeesTheSameSharingAndMoreStringsThanOneByteNumbers() throws {
        // Beyond the 237 entries that a reference of one byte reaches.
        let words = (0..<600).map { NSString(string: "word \($0)") }
        let list = (words + words.reversed()) as NSArray
        let text = try read(list)
        let expected = ((0..<600).map(\.self) + (0..<600).reversed()).map { "'word \($0)'" }.joined(separator: ", ")
        #expect(text == "[\(expected)]")
    }

    @Test func itReadsAUsersClassAndItsValuesByType() throws {
        let place = Place(name: "n", x: 0.25, count: -7)
        #expect(
            try read(place)
                == "SequentialArchiveTests.Place v0 [b'@']['n'] [b'd'][0.25] [b'i'][-7]"
        )
    }
}

enum PyTypedStream {
    static let isThere = (try? run(["-c", "import typedstream"])) != nil

    /// The roots of archives as Python prints them, by one process: it takes a second to start.
    static func read(_ archives: [Data]) throws -> [String] {
        let files = try archives.map { data in
            let file = TestDirectory.newPath()
            try data.write(to: file)
            return file
        }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        return try run(["-c", script] + files.map(\.path)).split(separator: "\n").map(String.init)
    }

    private static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe.make()
        process.standardOutput = pipe
        process.standardError = Pipe.make()
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "python3 failed")
        return String(decoding: output, as: UTF8.self)
    }

    private static let script = """
        import sys, typedstream
        sys.stdout.reconfigure(encoding='utf-8')
        def plain(value):
            kind = type(value).__name__
            if kind in ('NSString', 'NSMutableString'): return repr(value.value)
            if kind in ('NSNumber', 'NSValue'): return repr(value.value)
            if kind in ('NSData', 'NSMutableData'): return repr(bytes(value.data))
            if kind == 'NSDate': return 'date %r' % value.absolute_reference_date_offset
            if kind == 'NSURL':
                base = plain(value.relative_to)[4:] if value.relative_to else 'None'
                return 'url %s %s' % (base, repr(value.value)) if value.relative_to else 'url %s' % repr(value.value)
            if hasattr(value, 'elements'): return '[' + ', '.join(plain(e) for e in value.elements) + ']'
            if kind == 'NSDictionary':
                return '{' + ', '.join(plain(k) + ': ' + plain(v) for k, v in value.contents.items()) + '}'
            if kind == 'GenericArchivedObject':
                groups = ' '.join('%r[%s]' % (list(g.encodings), ', '.join(plain(v) for v in g.values))
                    if hasattr(g, 'encodings') else repr(g) for g in value.contents)
                return '%s v%d %s' % (value.clazz.name.decode(), value.clazz.version, groups)
            return repr(value)
        for path in sys.argv[1:]: print(plain(typedstream.unarchive_from_file(path)))
        """
}
