import Foundation

final class Node: NSObject, NSCoding {
    var next: Node?
    weak var parent: Node?

    override init() {}

    init?(coder: NSCoder) {
        next = coder.decodeObject(forKey: "next") as? Node
        // Foundation takes a key that is not there for an error on Linux.
        if coder.containsValue(forKey: "parent") { parent = coder.decodeObject(forKey: "parent") as? Node }
    }

    func encode(with coder: NSCoder) {
        coder.encode(next, forKey: "next")
        if let parent { coder.encodeConditionalObject(parent, forKey: "parent") }
    }
}

/// Refuses to be decoded.
final class Holder: NSObject, NSCoding {
    override init() {}
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) {}
}

enum Outer {
    final class Nested: NSObject, NSCoding {
        override init() {}
        init?(coder: NSCoder) {}
        func encode(with coder: NSCoder) {}
    }
}

final class Box<Value>: NSObject, NSCoding {
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

/// Stands for another object in archives.
final class Replaced: NSObject, NSCoding {
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
    override func replacementObject(for coder: NSCoder) -> Any? { "another" }
    #if !canImport(Darwin)
        override func replacementObject(for archiver: NSKeyedArchiver) -> Any? { "another" }
    #endif
}
