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
}
