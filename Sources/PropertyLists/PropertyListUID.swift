import Foundation

/// A keyed archive's reference to another of its objects, as a property list holds it.
public final class PropertyListUID: NSObject {
    public let value: UInt32

    public init(_ value: UInt32) { self.value = value }

    public override func isEqual(_ object: Any?) -> Bool { (object as? PropertyListUID)?.value == value }
    public override var hash: Int { value.hashValue }
    public override var description: String { "UID(\(value))" }
}
