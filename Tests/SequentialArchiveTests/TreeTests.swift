import Foundation
import KeyedArchive
import SequentialArchive
import TestSupport
import Testing

/// Laws of every typed stream that is read without its classes.
@Suite struct TreeTests {
    private static let isThere = Fixtures.folder != nil

    /// The manifest's `classes=NSArray/v0,NSObject/v0…` and its counts, by file.
    private func manifest() throws -> [String: String] {
        let folder = try #require(Fixtures.folder).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "MANIFEST.tsv"), encoding: .utf8)
        var rows: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard cells[0].hasPrefix("typedstream/"), cells.count > 4 else { continue }
            rows[String(cells[0].dropFirst("typedstream/".count))] = String(cells[4])
        }
        return rows
    }

    @Test(.enabled(if: isThere, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
    func everyFixtureHoldsWhatTheManifestSays() throws {
        let rows = try manifest()
        for (name, data) in try Fixtures.all() {
            let stream = try TypedStream(data)
            var classes: [String] = []
            var count = 0
            for object in stream.objects {
                switch object {
                case .classDescription(let description):
                    classes.append("\(description.name)/v\(description.version)")
                case .instance: count += 1
                case .cString: break
                }
            }
            let row = try #require(rows[name], "\(name)")
            let stated = try #require(row.firstRange(of: "classes=")).upperBound
            let list = row[stated...].split(separator: "…")[0].split(separator: ",").map(String.init)
            #expect(Array(classes.prefix(list.count)) == list, "\(name)")
            #expect(row.hasSuffix("…") || classes.count == list.count, "\(name)")
            #expect(row.contains(" objects=\(count) "), "\(name): \(count), \(row)")
            #expect(stream.systemVersion == 1_000)
            #expect(stream.byteOrder == .little)
        }
    }

    @Test(.enabled(if: isThere, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
    func everyFixtureIsWrittenBackByteForByte() throws {
        let all = try Fixtures.all()
        #expect(all.count >= 15)
        for (name, data) in all { #expect(try TypedStream(data).data() == data, "\(name)") }
    }

    @Test(.enabled(if: isThere, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
    func theOtherByteOrderSaysTheSame() throws {
        for (name, data) in try Fixtures.all() {
            let stream = try TypedStream(data)
            let turned = try TypedStream(stream.data(byteOrder: .big))
            #expect(turned.byteOrder == .big)
            #expect(turned.groups == stream.groups, "\(name)")
            #expect(turned.objects == stream.objects, "\(name)")
            #expect(try turned.data(byteOrder: .little) == data, "\(name)")
        }
    }

    @Test(.enabled(if: isThere, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
    func everyTruncationAndFlipGivesAStreamOrAnError() throws {
        for (name, data) in try Fixtures.all() {
            for count in 0..<data.count {
                // A stream may end after any group of the outermost level, but these have one.
                let cut = try? TypedStream(data.prefix(count))
                #expect(cut == nil || cut?.groups.isEmpty == true, "\(name), \(count) bytes")
            }
            for bit in bits(of: data) {
                var broken = data
                broken[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let stream = try? TypedStream(broken) else { continue }
                _ = stream.description
                // A stream that was read is written so that it reads the same.
                #expect(try TypedStream(stream.data()) == stream, "\(name), bit \(bit)")
            }
        }
    }

    @Test func everyKindOfValueIsKept() throws {
        let stream = Samples.everyKind
        for order in [TypedStream.ByteOrder.little, .big] {
            var expected = stream
            expected.byteOrder = order
            let data = try stream.data(byteOrder: order)
            #expect(try TypedStream(data) == expected)
        }
    }

    @Test func integersTakeTheFormsOfApplesArchiver() throws {
        func bytes(_ type: String, _ value: TypedStream.Value) throws -> [UInt8] {
            let stream = TypedStream(groups: [.init(types: type, values: [value])], objects: [])
            return Array(try stream.data().dropFirst(16 + 3))
        }
        #expect(try bytes("i", .integer(127)) == [0x7F])
        #expect(try bytes("i", .integer(-110)) == [0x92])
        #expect(try bytes("i", .integer(-111)) == [0x81, 0x91, 0xFF])
        #expect(try bytes("I", .integer(145)) == [0x81, 0x91, 0x00])
        #expect(try bytes("i", .integer(40_000)) == [0x82, 0x40, 0x9C, 0, 0])
        #expect(try bytes("I", .integer(0xFFFF_FFFF)) == [0x82, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try bytes("q", .integer(1 << 40)) == [0x87, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(try bytes("Q", .unsigned(.max)) == [0x87] + [UInt8](repeating: 0xFF, count: 8))
        #expect(try bytes("c", .integer(-128)) == [0x80])
        #expect(try bytes("C", .integer(0x84)) == [0x84])
        #expect(throws: ArchiveError.self) { try bytes("s", .integer(40_000)) }
        #expect(throws: ArchiveError.self) { try bytes("i", .double(1)) }
    }

    @Test func hostileStreamsAreRefused() throws {
        let header: [UInt8] = [4, 11] + Array("streamtyped".utf8) + [0x81, 0xE8, 0x03]
        func code(_ bytes: [UInt8]) -> ArchiveError.Code? {
            do throws(ArchiveError) {
                _ = try TypedStream(Data(bytes))
                return nil
            } catch {
                return error.code
            }
        }
        func types(_ text: String) -> [UInt8] {
            var bytes = header + [0x84]
            bytes +=
                text.utf8.count < 128
                ? [UInt8(text.utf8.count)] : [0x81, UInt8(text.utf8.count & 0xFF), UInt8(text.utf8.count >> 8)]
            return bytes + Array(text.utf8)
        }
        #expect(code([]) == .unknownFormat)
        #expect(code(Array("bplist00".utf8)) == .unknownFormat)
        #expect(code([3] + header.dropFirst()) == .unsupportedFormat)
        #expect(code(header) == nil)
        // A class above itself, and a class that is an object.
        #expect(code(types("#") + [0x84, 0x84, 1, 0x41, 0, 0x92]) == .corrupted)
        #expect(code(types("@") + [0x84, 0x92]) == .corrupted)
        // Arrays of a billion values that take no bytes.
        #expect(code(types("[1000000000!]")) == .limitExceeded)
        #expect(code(types("[4294967295{}]")) == .limitExceeded)
        #expect(code(types("[30000[30000[30000{}]]]")) == .limitExceeded)
        #expect(code(types("[4294967295i]") + [1]) == .limitExceeded)
        #expect(code(types("[99999999999999999999c]")) == .corrupted)
        #expect(code(types("(i)")) == .unsupportedType)
        #expect(code(types("^i")) == .unsupportedType)
        #expect(
            code(types(String(repeating: "[1", count: 40) + "i" + String(repeating: "]", count: 40)))
                == .limitExceeded
        )
        #expect(code(types("{_NSPoint=ff")) == .corrupted)
        #expect(code(types("*") + [0x84, 0x84, 2, 0x41, 0x00]) == .corrupted)
        // A length beyond the end.
        #expect(code(types("+") + [0x82, 0xFF, 0xFF, 0xFF, 0x7F]) == .corrupted)
        // Objects in objects without end.
        var deep = types("@") + [0x84, 0x84, 0x84, 1, 0x41, 0, 0x85]
        for _ in 0..<5_000 { deep += [0x92, 0x84, 0x93] }
        #expect(code(deep) == .limitExceeded)
    }

    @Test func errorsNameThePlace() throws {
        let data = try Samples.everyKind.data()
        let error = #expect(throws: ArchiveError.self) { try TypedStream(data.dropLast()) }
        #expect(error?.offset == data.count - 1)
    }

    @Test func theOutlineShowsSharedObjectsOnce() throws {
        let text = Samples.everyKind.description
        #expect(text.contains("@: Zoo(3) < NSObject(0) #0"))
        #expect(text.contains("see #0"))
        #expect(text.contains(#"+: "caf\u{202e}""#))
    }
}
