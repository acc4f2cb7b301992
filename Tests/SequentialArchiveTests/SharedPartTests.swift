import Foundation
import KeyedArchive
import SequentialArchive
import TestSupport
import Testing

/// Many values that share one long part, which each of them copies or goes through, are refused soon, or take little.
@Suite struct SharedPartTests {
    /// Writes a typed stream in which every text, class and object is there once.
    private struct Stream {
        var bytes: [UInt8] = [4, 11] + Array("streamtyped".utf8) + [0x81, 0xE8, 0x03]
        private var strings: [String: Int] = [:]
        private var classes: [String: Int] = [:]
        private var entryCount = 0

        mutating func integer(_ value: Int) {
            if (-110...127).contains(value) {
                bytes.append(UInt8(truncatingIfNeeded: value))
            } else {
                bytes.append(0x82)
                for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
            }
        }

        mutating func refer(to number: Int) { integer(number - 110) }

        mutating func shared(_ text: String) {
            if let number = strings[text] { return refer(to: number) }
            strings[text] = strings.count
            bytes.append(0x84)
            integer(text.utf8.count)
            bytes += text.utf8
        }

        /// Begins an object, and returns its number.
        ///
        /// - Parameter types: of the group of values that it is the first of.
        mutating func begin(_ name: String, version: Int = 0, in types: String = "@") -> Int {
            shared(types)
            bytes.append(0x84)
            let number = takeEntry()
            for (name, version) in [(name, version), ("NSObject", 0)] {
                if let known = classes[name] {
                    refer(to: known)
                    return number
                }
                classes[name] = takeEntry()
                bytes.append(0x84)
                shared(name)
                integer(version)
            }
            bytes.append(0x85)
            return number
        }

        mutating func end() { bytes.append(0x86) }

        mutating func takeEntry() -> Int {
            entryCount += 1
            return entryCount - 1
        }

        mutating func text(_ text: String) -> Int {
            let number = begin("NSString", version: 1)
            shared("+")
            integer(text.utf8.count)
            bytes += text.utf8
            end()
            return number
        }

        mutating func object(_ number: Int) {
            shared("@")
            refer(to: number)
        }
    }

    private func error(_ stream: Stream) -> ArchiveError.Code? {
        do throws(ArchiveError) {
            _ = try SequentialUnarchiver.unarchiveObject(with: Data(stream.bytes))
            return nil
        } catch {
            return error.code
        }
    }

    /// An attributed text of `count` runs, each with attributes of its own number, which are all one dictionary.
    private func attributedText(runs count: Int, entries: Int) -> Stream {
        var stream = Stream()
        _ = stream.begin("NSAttributedString")
        _ = stream.text(String(repeating: "a", count: count))
        var dictionary: Int?
        for run in 0..<count {
            stream.shared("iI")
            stream.integer(run + 1)
            stream.integer(1)
            if let dictionary {
                stream.object(dictionary)
                continue
            }
            dictionary = stream.begin("NSDictionary")
            stream.shared("i")
            stream.integer(entries)
            var value: Int?
            for entry in 0..<entries {
                _ = stream.text("k\(entry)")
                if let value { stream.object(value) } else { value = stream.text("v") }
            }
            stream.end()
        }
        stream.end()
        return stream
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func aMemberOfManySets() {
        func list(length: Int, count: Int) -> Stream {
            var stream = Stream()
            _ = stream.begin("NSArray")
            stream.shared("i")
            stream.integer(count + 1)
            let text = stream.text(String(repeating: "s", count: length))
            for _ in 0..<count {
                _ = stream.begin("NSSet")
                stream.shared("i")
                stream.integer(1)
                stream.object(text)
                stream.end()
            }
            stream.end()
            return stream
        }
        let many = list(length: 100_000, count: 10_000)
        #expect(many.bytes.count < 250_000)
        #expect(error(many) == .limitExceeded)
        #expect(error(list(length: 1_000, count: 500)) == nil)
    }

    /// Each class is looked for by its name.
    @Test func namesOfClassesAreBounded() {
        func object(ofClassWithNameOf length: Int) -> Stream {
            var stream = Stream()
            _ = stream.begin(String(repeating: "k", count: length))
            stream.end()
            return stream
        }
        #expect(error(object(ofClassWithNameOf: 4_096)) == .limitExceeded)
        #expect(error(object(ofClassWithNameOf: 4_095)) != .limitExceeded)
    }

    /// Each of the groups within each other has the types that follow its first one.
    @Test(.timeLimit(.minutes(1 * slowness))) func typesOfGroupsInEachOther() {
        var stream = Stream()
        let types = "@" + String(repeating: "!", count: 16_000)
        for level in 0..<900 {
            _ = stream.begin("NSArray", in: level == 0 ? "@" : types)
            stream.shared("i")
            stream.integer(1)
        }
        #expect(error(stream) == .limitExceeded)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func attributes() {
        let many = attributedText(runs: 4_000, entries: 4_000)
        #expect(many.bytes.count < 100_000)
        #expect(error(many) == .limitExceeded)
        #expect(error(attributedText(runs: 200, entries: 10)) == nil)
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["NSURL", "NSAttributedString"]) func texts(
        className: String
    ) {
        func list(length: Int, count: Int) -> Stream {
            var stream = Stream()
            _ = stream.begin("NSArray")
            stream.shared("i")
            stream.integer(count)
            var text: Int?
            for _ in 0..<count {
                _ = stream.begin(className)
                if className == "NSURL" {
                    stream.shared("c")
                    stream.integer(0)
                }
                if let text {
                    stream.object(text)
                } else {
                    text = stream.text("http://a/" + String(repeating: "s", count: length))
                }
                if className == "NSAttributedString" {
                    stream.shared("iI")
                    stream.integer(1)
                    stream.integer(length + 9)
                    _ = stream.begin("NSDictionary")
                    stream.shared("i")
                    stream.integer(0)
                    stream.end()
                }
                stream.end()
            }
            stream.end()
            return stream
        }
        #expect(error(list(length: 20_000, count: 4_000)) == .limitExceeded)
        #expect(error(list(length: 20_000, count: 10)) == nil)
    }

    /// The type that a number names is one, and no list that is parsed again for each number.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [1, 2, 16_384]) func numbers(typeCount: Int) {
        let type = String(repeating: "i", count: typeCount)
        var stream = Stream()
        let count = 20_000
        _ = stream.begin("NSArray")
        stream.shared("i")
        stream.integer(count)
        var name: Int?
        for _ in 0..<count {
            _ = stream.begin("NSNumber")
            stream.shared("*")
            if let name {
                stream.refer(to: name)
            } else {
                name = stream.takeEntry()
                stream.bytes.append(0x84)
                stream.shared(type)
            }
            stream.shared("i")
            stream.integer(5)
            stream.end()
        }
        stream.end()
        #expect(error(stream) == (typeCount == 1 ? nil : .unsupportedType))
    }

    /// References to one long selector share its memory.
    @Test(.timeLimit(.minutes(1 * slowness))) func selectors() throws {
        let count = 20_000
        var stream = Stream()
        stream.shared("[\(count):]")
        let name = String(repeating: "s", count: count)
        for _ in 0..<count { stream.shared(name) }
        let tree = try TypedStream(Data(stream.bytes))
        guard case .array(let values)? = tree.groups.first?.values.first else {
            Issue.record("no array")
            return
        }
        let addresses = values.map { value -> Int in
            guard case .name(let data?) = value else { return 0 }
            return data.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        }
        #expect(addresses.count == count && Set(addresses).count == 1)
        // An unarchiver keeps a copy for each.
        let unarchiver = try SequentialUnarchiver(forReadingWith: Data(stream.bytes))
        var selectors = [UnsafePointer<CChar>?](repeating: nil, count: count)
        unarchiver.decodeArray(ofObjCType: ":", count: count, at: &selectors)
        #expect((unarchiver.error as? ArchiveError)?.code == .limitExceeded)
    }
}
