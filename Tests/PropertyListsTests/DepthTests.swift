import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PropertyLists

/// Lists that nest as deep as they may, or deeper, on threads with little stack: an error at most, and no crash.
struct DepthTests {
    enum Form: String, CaseIterable {
        case xmlArray, xmlDictionary, textArray, textDictionary, array, set, dictionary
    }

    private static func list(_ form: Form, levels: Int) -> Data {
        func text(_ open: String, _ close: String) -> Data {
            Data((String(repeating: open, count: levels) + String(repeating: close, count: levels)).utf8)
        }
        return switch form {
        case .xmlArray: Data("<plist>".utf8) + text("<array>", "</array>") + Data("</plist>".utf8)
        case .xmlDictionary:
            Data("<plist>".utf8) + text("<dict><key>next</key>", "</dict>").dropLast(7 * levels)
                + Data(("<true/>" + String(repeating: "</dict>", count: levels) + "</plist>").utf8)
        case .textArray: text("(", ")")
        case .textDictionary: Data((String(repeating: "{next=", count: levels) + "a").utf8) + text("", ";}")
        case .array: binary(levels: levels, marker: 0xA0, key: nil)
        case .set: binary(levels: levels, marker: 0xC0, key: nil)
        case .dictionary: binary(levels: levels, marker: 0xD0, key: "next")
        }
    }

    /// Containers of one member each, and an empty one.
    private static func binary(levels: Int, marker: UInt8, key: String?) -> Data {
        func big(_ number: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for level in 1..<levels {
            offsets.append(bytes.count)
            bytes += [marker | 1] + (key == nil ? [] : big(levels, 2)) + big(level, 2)
        }
        offsets.append(bytes.count)
        bytes.append(marker)
        if let key {
            offsets.append(bytes.count)
            bytes += [0x50 | UInt8(key.utf8.count)] + key.utf8
        }
        let table = bytes.count
        for offset in offsets { bytes += big(offset, 4) }
        return Data(bytes + [0, 0, 0, 0, 0, 0, 4, 2] + big(offsets.count, 8) + big(0, 8) + big(table, 8))
    }

    private final class Link: Codable {
        var next: Link?

        init(_ next: Link?) { self.next = next }

        required init(from decoder: any Decoder) throws {
            next = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Link.self, forKey: .next)
        }
    }

    private enum Outcome { case done, tooDeep, other }

    private static func outcome(_ work: () throws -> Void) -> Outcome {
        func isTooDeep(_ error: (any Error)?) -> Bool { (error as? PropertyListError)?.code == .limitExceeded }
        do {
            try work()
            return .done
        } catch DecodingError.dataCorrupted(let context) {
            return isTooDeep(context.underlyingError) ? .tooDeep : .other
        } catch EncodingError.invalidValue(_, let context) {
            return isTooDeep(context.underlyingError) ? .tooDeep : .other
        } catch {
            return isTooDeep(error) ? .tooDeep : .other
        }
    }

    /// The list that was read is freed on the same thread.
    @Test(arguments: [128, 256, 512, 16_384], Form.allCases)
    func readingIsAnErrorAtMost(kibibytes: Int, form: Form) {
        for levels in [512, 600, 5_000] {
            let data = Self.list(form, levels: levels)
            let outcomes = Mutex<[Outcome]>([])
            withStack(kibibytes: kibibytes) {
                let found = [
                    Self.outcome { _ = try PropertyList(data) },
                    Self.outcome { _ = try PropertyListObjects.propertyList(from: data) },
                    Self.outcome {
                        _ = try PropertyListObjects.propertyList(
                            from: data,
                            options: .mutableContainersAndLeaves
                        )
                    },
                    Self.outcome { _ = try PropertyList.convert(data, to: .binary) },
                    Self.outcome { _ = try PropertyListCoder().decode(Link.self, from: data) },
                ]
                outcomes.withLock { $0 = found }
            }
            let found = outcomes.withLock { $0 }
            #expect(found.count == 5)
            if levels > 512 { #expect(found.allSatisfy { $0 == .tooDeep }, "\(found)") }
            guard levels == 512 else { continue }
            #expect(kibibytes > 128 || found[0] == .tooDeep, "\(found)")
            // A set of containers is refused as objects, and the decoded type fits dictionaries alone.
            if kibibytes == 16_384 { #expect(found[0] == .done && found[3] == .done, "\(found)") }
            #expect(!found.prefix(4).contains(.other), "\(found)")
        }
    }

    @Test(arguments: [128, 256, 512, 16_384]) func writingIsAnErrorAtMost(kibibytes: Int) {
        var list = PropertyList(.array([]))
        var objects: Any = [Any]()
        var link = Link(nil)
        for level in 1..<512 {
            list = PropertyList(level % 2 == 0 ? .array([list]) : .dictionary([.init(key: "next", value: list)]))
            objects = level % 2 == 0 ? [objects] : ["next": objects]
            if level < 511 { link = Link(link) }
        }
        var other = PropertyList(.array([]))
        for level in 1..<512 {
            other = PropertyList(level % 2 == 0 ? .array([other]) : .dictionary([.init(key: "next", value: other)]))
        }
        // Only read, on one thread at a time.
        nonisolated(unsafe) let (made, chain) = (objects, link)
        let (tree, twin) = (list, other)
        let outcomes = Mutex<[Outcome]>([])
        withStack(kibibytes: kibibytes) {
            let formats: [PropertyListFormat] = [.binary, .xml, .openStep, .gnuStep]
            var found = formats.map { format in Self.outcome { _ = try tree.data(format: format) } }
            found += formats.map { format in
                Self.outcome { _ = try PropertyListObjects.data(fromPropertyList: made, format: format) }
            }
            found.append(Self.outcome { _ = try PropertyListCoder().encode(chain) })
            found.append(Self.outcome { _ = try tree.withoutDuplicates(in: .xml) })
            if tree == twin { found.append(.done) }
            outcomes.withLock { $0 = found }
        }
        let found = outcomes.withLock { $0 }
        #expect(found.count == 11 && !found.contains(.other))
        if kibibytes == 128 { #expect(found[0] == .tooDeep && found[4] == .tooDeep) }
        if kibibytes == 16_384 { #expect(found.allSatisfy { $0 == .done }, "\(found)") }
    }

    /// An error of the innermost of many values has a key for each level.
    @Test func errorsOfDeepValuesHaveTheirPath() throws {
        struct Word: Encodable {
            func encode(to encoder: any Encoder) throws { throw EncodingError.invalidValue(0, context(encoder)) }
            private func context(_ encoder: any Encoder) -> EncodingError.Context {
                EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "")
            }
        }
        struct Holder: Encodable { var words = ["a": [Word()]] }
        let error = #expect(throws: EncodingError.self) { try PropertyListCoder().encode(Holder()) }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["words", "a", "Index 0"])
    }
}
