import Foundation
import KeyedArchive

/// A class as a typed stream describes it.
final class StreamClass {
    let name: String
    let version: Int
    let superclass: StreamClass?
    /// How many classes are above it.
    let depth: Int
    /// The way in which its objects are decoded, once that was looked up.
    var resolved: ResolvedClass?

    init(name: String, version: Int, superclass: StreamClass?) {
        self.name = name
        self.version = version
        self.superclass = superclass
        depth = superclass.map { $0.depth + 1 } ?? 0
    }
}

/// The way in which objects of an archived class are decoded.
enum ResolvedClass {
    /// An immutable string, the commonest of all: without parts of its own, it takes no level of nesting.
    case string
    case intrinsic((SequentialUnarchiver, Int) throws(ArchiveError) -> Any)
    case coding(any NSCoding.Type)
}

/// An entry of the table of objects.
enum StreamEntry {
    case cls(StreamClass)
    case cString([UInt8])
    /// An object, and how many members it holds, those of its members included.
    case object(Any, held: Int)
    /// An object that is being decoded.
    case open(StreamClass?)
    /// An object that was passed over, because the object around it did not ask for it.
    case skipped(position: Int, nextString: Int)
}

/// The part of a stream that is being decoded: an object's groups, or those of the outermost level.
struct StreamFrame {
    /// The types that are left of the group that was begun last, the next one last.
    var types: [ValueType] = []
    let cls: StreamClass?
}
