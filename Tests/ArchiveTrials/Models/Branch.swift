import Foundation
import Synchronization

/// An object with others in it: by type, by a set of classes, of any kind, and perhaps itself.
public class Branch: NSObject, NSCoding {
    public var name: String
    public var left: Branch?
    public var right: Branch?
    public var content: Any?
    public var list: NSArray?
    public weak var parent: Branch?

    public init(name: String, content: Any? = nil) {
        self.name = name
        self.content = content
    }

    public required init?(coder: NSCoder) {
        // One name makes the object refuse to be decoded, another one makes it report an error.
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        if name == "unwilling" { return nil }
        if name == "failing" { coder.failWithError(CocoaError(.coderInvalidValue)) }
        self.name = name as String
        left = coder.decodeObject(of: Branch.self, forKey: "left")
        right = coder.decodeObject(forKey: "right") as? Branch
        content = coder.decodeObject(forKey: "content")
        let classes = [NSArray.self, NSString.self, NSNumber.self, NSDate.self, Branch.self]
        list = coder.decodeObject(of: classes, forKey: "list") as? NSArray
        super.init()
        parent = coder.decodeObject(forKey: "parent") as? Branch
        Self.decoded.withLock { $0.append(Decoded(branch: self)) }
    }

    private struct Decoded: @unchecked Sendable {
        // Only this file follows the reference, after the trial that decoded it, on the same thread.
        weak var branch: Branch?
    }

    private static let decoded = Mutex<[Decoded]>([])

    /// Takes the decoded graphs apart: cycles would stay in memory for ever. One trial at a time.
    static func dissolveAll() {
        for entry in decoded.withLock({ exchange(&$0) }) {
            guard let branch = entry.branch else { continue }
            let parts: [Any?] = [branch.left, branch.right, branch.content, branch.list]
            branch.left = nil
            branch.right = nil
            branch.content = nil
            branch.list = nil
            _ = consume parts
        }
    }

    public func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(left, forKey: "left")
        coder.encode(right, forKey: "right")
        coder.encode(content, forKey: "content")
        coder.encode(list, forKey: "list")
        coder.encodeConditionalObject(parent, forKey: "parent")
    }

    var described: [(String, Any?)] {
        [("name", name), ("left", left), ("right", right), ("content", content), ("list", list)]
    }
}

/// One that decodes more than its superclass does.
public final class Twig: Branch {
    public var leaves: Set<String> = []

    public override init(name: String, content: Any? = nil) { super.init(name: name, content: content) }

    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        leaves = coder.decodeObject(forKey: "leaves") as? Set<String> ?? []
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(leaves, forKey: "leaves")
    }

    override var described: [(String, Any?)] { super.described + [("leaves", leaves)] }
}

extension Branch: Described {}

private func exchange<Element>(_ list: inout [Element]) -> [Element] {
    defer { list = [] }
    return list
}
