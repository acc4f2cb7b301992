import Foundation
import SequentialArchive

// Classes as programs with coders without keys have them.

/// Encodes by C types, and knows the way with keys too.
final class Place: NSObject, NSCoding {
    let name: String
    let x: Double
    let count: Int32

    init(name: String, x: Double, count: Int32) {
        self.name = name
        self.x = x
        self.count = count
    }

    required init?(coder: NSCoder) {
        if coder.allowsKeyedCoding {
            name = coder.decodeObject(forKey: "name") as? String ?? ""
            x = coder.decodeDouble(forKey: "x")
            count = coder.decodeInt32(forKey: "count")
        } else {
            name = coder.decodeObject() as? String ?? ""
            var x = 0.0
            var count: Int32 = 0
            coder.decodeValue(ofObjCType: "d", at: &x)
            coder.decodeValue(ofObjCType: "i", at: &count)
            self.x = x
            self.count = count
        }
    }

    func encode(with coder: NSCoder) {
        if coder.allowsKeyedCoding {
            coder.encode(name, forKey: "name")
            coder.encode(x, forKey: "x")
            coder.encode(count, forKey: "count")
        } else {
            coder.encode(name as Any?)
            var x = x
            var count = count
            coder.encodeValue(ofObjCType: "d", at: &x)
            coder.encodeValue(ofObjCType: "i", at: &count)
        }
    }
}

/// A tree with references up, which are conditional.
class Branch: NSObject, NSCoding {
    var label: String
    var children: [Branch] = []
    var parent: Branch?
    static nonisolated(unsafe) var isParentConditional = true

    init(_ label: String, _ children: [Branch] = []) {
        self.label = label
        self.children = children
        super.init()
        for child in children { child.parent = self }
    }

    required init?(coder: NSCoder) {
        label = coder.decodeObject() as? String ?? ""
        children = coder.decodeObject() as? [Branch] ?? []
        parent = coder.decodeObject() as? Branch
    }

    func encode(with coder: NSCoder) {
        coder.encode(label as Any?)
        coder.encode(children as Any?)
        coder.encodeConditionalObject(parent)
    }
}

final class Leaf: Branch {
    var size: Int16 = 0

    required init?(coder: NSCoder) {
        super.init(coder: coder)
        if coder.version(forClassName: "SequentialArchiveTests.Leaf") >= 2 {
            coder.decodeValue(ofObjCType: "s", at: &size)
        }
    }

    override init(_ label: String, _ children: [Branch] = []) { super.init(label, children) }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encodeValue(ofObjCType: "s", at: &size)
    }
}

/// Encodes with keys only.
final class KeysOnly: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) { _ = coder.decodeObject(forKey: "name") }
    func encode(with coder: NSCoder) { coder.encode(1, forKey: "number") }
}

/// Encodes and decodes by closures, to try single calls.
final class Scripted: NSObject, NSCoding {
    static nonisolated(unsafe) var encoding: (NSCoder) -> Void = { _ in }
    static nonisolated(unsafe) var decoding: (NSCoder) -> Bool = { _ in true }

    override init() {}
    required init?(coder: NSCoder) {
        super.init()
        if !Self.decoding(coder) { return nil }
    }
    func encode(with coder: NSCoder) { Self.encoding(coder) }
}

final class Ring: NSObject, NSCoding {
    var next: Ring?
    var number = 0

    override init() {}

    required init?(coder: NSCoder) {
        coder.decodeValue(ofObjCType: "q", at: &number)
        next = coder.decodeObject() as? Ring
    }

    func encode(with coder: NSCoder) {
        coder.encodeValue(ofObjCType: "q", at: &number)
        coder.encode(next)
    }
}
