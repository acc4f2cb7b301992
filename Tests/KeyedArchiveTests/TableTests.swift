import Foundation
import Testing

@testable import KeyedArchive

/// The hash tables of the archiver hold together, at every size.
struct TableTests {
    // The tables cannot be copied, so that no expectation may name one.

    @Test("A table of objects finds each of them at its position", arguments: [1, 8, 9, 16, 17, 1_000])
    func identities(count: Int) {
        var table = IdentityTable()
        let objects = (0..<count).map { _ in NSObject() }
        for round in 0..<2 {
            var known: [Int?] = []
            for (position, object) in objects.enumerated() {
                known.append(table.find(object))
                let added = table.add(object, uid: UInt32(position), isReserved: false)
                #expect(added == position)
            }
            #expect(known.allSatisfy { $0 == nil })
            let isSound = table.holdsTogether()
            #expect(isSound, "round \(round)")
            let stranger = table.find(NSObject())
            #expect(stranger == nil)
            table.removeAll()
            let isEmptySound = table.holdsTogether()
            #expect(isEmptySound)
        }
    }

    @Test("A table of strings finds each of them by its bytes", arguments: [1, 32, 33, 1_000])
    func strings(count: Int) {
        var table = StringTable()
        var list = BinaryPropertyListWriter()
        // Composed and decomposed letters are equal as Swift's strings, but not here.
        let texts = (0..<count).flatMap { ["key \($0)", "\($0)", "\u{E9}\($0)", "e\u{301}\($0)"] }
        for round in 0..<2 {
            for (position, text) in texts.enumerated() {
                var text = text
                let (known, index) = text.withUTF8 { utf8 in
                    let (hash, isASCII) = table.digest(utf8)
                    let known = table.index(of: utf8, hash: hash, in: &list)
                    // Names, codes and long values stand in different runs of the list.
                    let role: BinaryPropertyListWriter.TextRole = position % 2 == 0 ? .name : .value
                    let reference =
                        isASCII ? list.add(ascii: utf8, as: role) : list.add(utf16: "\u{E9}".utf16, as: role)
                    return (known, table.add(utf8, hash: hash, isASCII: isASCII, reference: reference, in: &list))
                }
                #expect(known == nil && index == position)
            }
            for (position, text) in texts.enumerated() {
                var text = text
                let index = text.withUTF8 { utf8 in
                    table.index(of: utf8, hash: table.digest(utf8).hash, in: &list)
                }
                #expect(index == position)
            }
            let isSound = table.holdsTogether()
            #expect(isSound, "round \(round)")
            table.reset()
            list.reset()
            let isEmptySound = table.holdsTogether()
            #expect(isEmptySound)
        }
    }

    @Test("A table of strings keeps names, up to a limit, and nothing else", arguments: [1, 32, 33, 600, 1_100])
    func keptNames(count: Int) {
        var table = StringTable()
        var list = BinaryPropertyListWriter()
        func index(of text: String) -> Int? {
            var text = text
            return text.withUTF8 { table.index(of: $0, hash: table.digest($0).hash, in: &list) }
        }
        func add(_ text: String, isName: Bool) {
            var text = text
            text.withUTF8 { utf8 in
                let (hash, isASCII) = table.digest(utf8)
                let reference = isASCII ? list.add(ascii: utf8, as: .value) : list.add(utf16: "ü".utf16, as: .value)
                _ = table.add(utf8, hash: hash, isASCII: isASCII, isName: isName, reference: reference, in: &list)
            }
        }
        let names = (0..<count).map { "name \($0)" }
        let others = (0..<count).map { "ü\($0)" } + (0..<count).map { String(repeating: "\($0) ", count: 64) }
        for name in names {
            add(name, isName: true)
            add(name + " as a value", isName: false)
        }
        for other in others { add(other, isName: true) }
        table.reset()
        list.reset()
        let isSound = table.holdsTogether()
        #expect(isSound)
        let known = names.map { index(of: $0) }
        #expect(known == (count <= 1_024 ? Array(0..<count) : Array(repeating: nil, count: count)))
        let isPresent = known.contains { $0.map { table.isPresent($0) } ?? false }
        #expect(!isPresent)
        let strange = (names.map { $0 + " as a value" } + others).compactMap { index(of: $0) }
        #expect(strange.isEmpty)
    }
}
