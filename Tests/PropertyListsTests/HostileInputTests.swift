import Foundation
import TestSupport
import Testing

@testable import PropertyLists

struct HostileInputTests {
    private func code(_ bytes: [UInt8]) -> PropertyListError.Code? {
        do throws(PropertyListError) {
            _ = try PropertyList(Data(bytes), limits: PropertyListLimits(values: 100_000))
            return nil
        } catch {
            return error.code
        }
    }

    private func code(_ text: String) -> PropertyListError.Code? { code(Array(text.utf8)) }

    /// A binary list of objects of less than 256 bytes together.
    private func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)]
        return bytes + [UInt8](repeating: 0, count: 15) + [table]
    }

    private func number(_ marker: UInt8, _ byte: UInt8, count: Int) -> [UInt8] {
        CollectionOfOne(marker) + [UInt8](repeating: byte, count: count)
    }

    @Test func binaryListsAreChecked() {
        #expect(code(binary([[0x09]])) == nil)
        #expect(code(binary([[0xA1, 0x00]])) == .corrupted, "array in itself")
        #expect(code(binary([[0xA1, 0x01], [0xA1, 0x00]])) == .corrupted, "cycle of two")
        #expect(code(binary([[0xA1, 0x07]])) == .corrupted, "reference beyond the end")
        #expect(code(binary([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])) == .corrupted, "date that is not a number")
        #expect(code(binary([[0x61, 0xD8, 0x00]])) == .corrupted, "half of a pair")
        #expect(code(binary([number(0x15, 0, count: 32)])) == .corrupted, "integer of 32 bytes")
        #expect(code(binary([number(0x14, 1, count: 16)])) == .corrupted, "integer of 128 bits")
        #expect(
            code(binary([[0x4F, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]])) == .corrupted,
            "data too long"
        )
        #expect(code(binary([[0xD1, 0x01, 0x01], [0x09]])) == .corrupted, "key that is not a string")
        var levels: [[UInt8]] = []
        for level in 1...26 as ClosedRange<UInt8> { levels.append([0xA2, level, level]) }
        levels.append([0x09])
        #expect(code(binary(levels)) == .limitExceeded, "2^26 values of 26 objects")
        #expect(code(Array("bplist00".utf8)) == .corrupted)
        #expect(code([]) == .unknownFormat)
    }

    @Test func uidsOfAnyWidthAreRead() throws {
        for width in 1...16 as ClosedRange<UInt8> {
            let zeros = [UInt8](repeating: 0, count: Int(width) - 1)
            let list = try PropertyList(Data(binary([[0x80 | (width - 1)] + zeros + [7]])))
            #expect(list.value == .uid(7), "\(width)")
            guard width > 4 else { continue }
            #expect(code(binary([[0x80 | (width - 1), 1] + zeros])) == .corrupted, "\(width)")
        }
        #expect(code(binary([[0x8F, 0, 0]])) == .corrupted)
    }

    /// A short list that uses its one long text so often that the values would take a thousand times its bytes.
    @Test(arguments: [0x5F, 0x6F, 0x4F] as [UInt8])
    func textThatIsUsedAgainAndAgainIsLimited(marker: UInt8) throws {
        func list(length: Int, uses: Int) -> Data {
            func big(_ number: Int, _ width: Int) -> [UInt8] {
                (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            var bytes = Array("bplist00".utf8) + [0xAF, 0x12] + big(uses, 4) + [UInt8](repeating: 1, count: uses)
            let second = bytes.count
            bytes += [marker, 0x12] + big(marker == 0x6F ? length / 2 : length, 4)
            bytes += [UInt8](repeating: 0x61, count: length)
            let table = bytes.count
            bytes += big(8, 4) + big(second, 4) + [0, 0, 0, 0, 0, 0, 4, 1] + big(2, 8) + big(0, 8) + big(table, 8)
            return Data(bytes)
        }
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(throws: PropertyListError.self) { try PropertyList(list(length: 200_000, uses: 100_000)) }
        }
        // The text is looked at once: 20 GB would take minutes.
        #expect(time < .seconds(60 * slowness))
        let sound = try PropertyList(list(length: 1_000, uses: 1_000))
        guard case .array(let members) = sound.value else {
            Issue.record("no array")
            return
        }
        #expect(members.count == 1_000 && members.allSatisfy { $0 == members[0] })
    }

    @Test(arguments: [
        "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        "<plist><string>&a;</string></plist>",
        "<plist/>", "<plist></plist>", "<plist><dict><key>a</key></dict></plist>", "<plist><integer/></plist>",
        "<plist><integer>18446744073709551616</integer></plist>", "<plist><real>x</real></plist>",
        "<plist><date>2001-13-01T00:00:00Z</date></plist>", "<plist><string>&#xD800;</string></plist>",
        "<plist><data>A</data></plist>", "<plist><array><string>a</array></plist>", "<plist><string>a", "<array",
        "{a=b", "{a b}", "(a b)", "<0>", "<0g>", "\"a", "\"\\UD800\"", "/* ", "<*I>", "<*X1>", "<*I1", "<[A]>",
        "a b",
    ])
    func textIsChecked(text: String) { #expect(code(text) == .corrupted) }

    @Test func depthIsLimited() {
        let xml = String(repeating: "<array>", count: 600) + String(repeating: "</array>", count: 600)
        #expect(code(xml) == .limitExceeded)
        #expect(code(String(repeating: "(", count: 600) + String(repeating: ")", count: 600)) == .limitExceeded)
        #expect(code(String(repeating: "(", count: 512) + String(repeating: ")", count: 512)) == nil)
    }

    @Test func errorsSayLineAndColumn() {
        do throws(PropertyListError) {
            _ = try PropertyList(Data("{\n  a = b;\n  c = ?;\n}".utf8))
            Issue.record("no error")
        } catch {
            #expect(error.position == PropertyListPosition(offset: 17, line: 3, column: 7))
        }
    }

    @Test func positionsAndOrderAreKept() throws {
        let list = try PropertyList(Data("{\n  z = 1;\n  a = (x, y);\n}".utf8))
        guard case .dictionary(let entries) = list.value else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.map(\.key) == ["z", "a"])
        #expect(entries[1].position == PropertyListPosition(offset: 13, line: 3, column: 3))
        #expect(entries[1].value.position == PropertyListPosition(offset: 17, line: 3, column: 7))
    }

    @Test func stringsFilesAndTypesAreRead() throws {
        let strings = try PropertyListObjects.propertyList(
            from: Data("/* Title */ \"a\" = \"b\\n\"; // end\nc;".utf8)
        )
        #expect(strings as? [String: String] == ["a": "b\n", "c": "c"])
        var format = PropertyListFormat.binary
        let typed = try PropertyListObjects.propertyList(
            from: Data("(<*I5>, <*R1.5>, <*BY>, <*D2001-01-01 01:00:00 +0100>, <[AQI=]>)".utf8),
            format: &format
        )
        #expect(format == .gnuStep)
        let values = try #require(typed as? [Any])
        #expect(values[0] as? Int == 5 && values[1] as? Double == 1.5 && values[2] as? Bool == true)
        #expect(
            values[3] as? Date == Date(timeIntervalSinceReferenceDate: 0) && values[4] as? Data == Data([1, 2])
        )
    }

    /// Foundation on Linux hands out a member as a Swift value: each object is looked at as the reader makes it.
    @Test func optionsMakeMutableObjects() throws {
        let table = try NodeTable.read(Array("{a = (b, <00>);}".utf8), limits: PropertyListLimits())
        func object(_ node: Int, _ options: PropertyListObjects.ReadOptions) -> Any {
            var reader = ObjectReader(table, options)
            return reader.object(table.nodes[node])
        }
        for options in [PropertyListObjects.ReadOptions.mutableContainers, .mutableContainersAndLeaves] {
            #expect(object(0, options) is NSMutableDictionary && object(2, options) is NSMutableArray)
        }
        #expect(object(3, .mutableContainers) is String && object(4, .mutableContainers) is Data)
        #expect(object(3, .mutableContainersAndLeaves) is NSMutableString)
        #expect(object(4, .mutableContainersAndLeaves) is NSMutableData)
        #expect(object(0, .immutable) is [String: Any])
    }
}
