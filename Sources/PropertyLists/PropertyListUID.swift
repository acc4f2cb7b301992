import Foundation

/// A keyed archive's reference to another of its objects, as a property list holds it.
public final class PropertyListUID: NSObject {
    /// The index of the object in the archive's `$objects`, from 0.
    public let value: UInt32

    /// Makes a reference to the object at an index, from 0.
    public init(_ value: UInt32) { self.value = value }

    /// Whether the other object is a reference to the same index.
    public override func isEqual(_ object: Any?) -> Bool { (object as? PropertyListUID)?.value == value }
    /// A hash of the index.
    public override var hash: Int { value.hashValue }
    /// The index, as `UID(3)`.
    public override var description: String { "UID(\(value))" }
}
