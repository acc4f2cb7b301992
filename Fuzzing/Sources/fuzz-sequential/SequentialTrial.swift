import Foundation
import KeyedArchive
import SequentialArchive

/// The readers of archives without keys, tried on any bytes.
enum SequentialTrial {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func read(_ data: Data) throws(Failure) {
        try readTree(data)
        try readObjects(data)
    }

    /// A tree that can be read is written so that it reads the same, in either byte order.
    private static func readTree(_ data: Data) throws(Failure) {
        let stream: TypedStream
        do throws(ArchiveError) {
            stream = try TypedStream(data)
        } catch {
            return try check(error, of: data)
        }
        _ = stream.description
        let rewritten: (once: Data, twice: Data, turned: Data)
        do throws(ArchiveError) {
            let once = try stream.data()
            let turned = try TypedStream(stream.data(byteOrder: stream.byteOrder == .big ? .little : .big))
            rewritten = (once, try TypedStream(once).data(), try turned.data(byteOrder: stream.byteOrder))
        } catch {
            throw Failure(description: "a tree that was read and cannot be written: \(error)")
        }
        guard rewritten.once == rewritten.twice, rewritten.once == rewritten.turned else {
            throw Failure(description: "a tree that is another one when it is written and read again")
        }
    }

    /// The values of the outermost level as objects, until one fails; those that came are archived again.
    private static func readObjects(_ data: Data) throws(Failure) {
        var count = 0
        do throws(ArchiveError) {
            let unarchiver = try SequentialUnarchiver(
                forReadingWith: data,
                classes: [Node.self, NSObject.self],
                limits: ArchiveLimits(byteCount: 1 << 20)
            )
            while !unarchiver.isAtEnd, unarchiver.error == nil, count <= data.count {
                let object = unarchiver.decodeObject()
                count += 1
                if let object { _ = try? SequentialArchiver.archivedData(withRootObject: object) }
            }
            try unarchiver.finishDecoding()
        } catch {
            try check(error, of: data)
        }
        if count > data.count { throw Failure(description: "more objects than bytes") }
    }

    private static func check(_ error: ArchiveError, of data: Data) throws(Failure) {
        if error.message.isEmpty || (error.offset ?? 0) > data.count {
            throw Failure(description: "an error that says nothing right: \(error)")
        }
    }
}

extension SequentialTrial {
    /// Sound archives, to begin with.
    static func samples() throws(ArchiveError) -> [(name: String, data: Data)] {
        let text = NSMutableAttributedString(string: "one two")
        text.setAttributes([NSAttributedString.Key("a"): "1"], range: NSRange(location: 0, length: 3))
        let values: [Any] = [
            "text", NSMutableString(string: "m"), true, -1, 0.1, Float(0.1), UInt64.max, Date.distantPast,
            Data([7, 8]),
            NSNull(), Set([1, 2]), ["k": "v"], text, NSMutableDictionary(dictionary: ["a": 1]), NSMutableArray(),
            NSRange(location: 1, length: 2), CGPoint(x: 1, y: 0.5),
        ]
        var samples = [(name: "values", data: try SequentialArchiver.archivedData(withRootObject: values))]
        for number in 0..<8 {
            let node = Node()
            node.number = number
            let archiver = SequentialArchiver(byteOrder: number % 2 == 0 ? .little : .big)
            archiver.encodeRootObject([node, node, values[number]])
            samples.append(("node-\(number)", try archiver.encodedData))
        }
        return samples
    }
}

/// A class with a value of every type, and parts that may be anything.
final class Node: NSObject, NSCoding {
    var number = 0
    var part: Any?

    override init() {}

    required init?(coder: NSCoder) {
        super.init()
        coder.decodeValue(ofObjCType: "q", at: &number)
        var real = 0.0
        coder.decodeValue(ofObjCType: "d", at: &real)
        part = coder.decodeObject()
        switch number & 7 {
        case 1: _ = coder.decodePointValue()
        case 2: _ = coder.decodeRectValue()
        case 3: _ = coder.decodePropertyList()
        case 4: _ = coder.decodeData()
        case 5:
            var text: UnsafePointer<CChar>?
            coder.decodeValue(ofObjCType: "*", at: &text)
            coder.decodeValue(ofObjCType: ":", at: &text)
        case 6:
            var cls: AnyClass?
            coder.decodeValue(ofObjCType: "#", at: &cls)
            var numbers = [Int32](repeating: 0, count: 3)
            coder.decodeArray(ofObjCType: "i", count: 3, at: &numbers)
        case 7: _ = coder.version(forClassName: "NSString")
        default: break
        }
    }

    func encode(with coder: NSCoder) {
        coder.encodeValue(ofObjCType: "q", at: &number)
        var real = 0.5
        coder.encodeValue(ofObjCType: "d", at: &real)
        coder.encode(nil as Any?)
        switch number & 7 {
        case 1: coder.encodePoint(CGPoint(x: 1, y: 0.5))
        case 2: coder.encodeRect(CGRect(x: 1, y: 2, width: 3, height: 0.5))
        case 3: coder.encodePropertyList(["k": ["v"]])
        case 4: coder.encode(Data([1, 2]))
        case 5:
            "text".withCString { text in
                var pointer: UnsafePointer<CChar>? = text
                coder.encodeValue(ofObjCType: "*", at: &pointer)
                coder.encodeValue(ofObjCType: ":", at: &pointer)
            }
        case 6:
            var cls: AnyClass? = Node.self
            coder.encodeValue(ofObjCType: "#", at: &cls)
            var numbers: [Int32] = [1, -2, 300]
            coder.encodeArray(ofObjCType: "i", count: 3, at: &numbers)
        default: break
        }
    }
}
