import Foundation
import Synchronization

/// What an unarchiver needs of memory: kept for the next one, since to allocate it takes longer than to read a
/// small archive.
///
/// Unchecked: it belongs to one unarchiver at a time, and changes hands only in `UnarchiverMemoryPool`.
final class UnarchiverMemory: @unchecked Sendable {
    // Unchecked exclusivity: as in `KeyedUnarchiver`.
    let bytes = ArchiveMemory()
    @exclusivity(unchecked) var objects = DecodedObjects()
    @exclusivity(unchecked) var classes = ClassCache<ResolvedClass>()
    @exclusivity(unchecked) var intrinsics = ClassCache<UnarchivedIntrinsic?>()

    /// The classes that were expected last, mostly those that are expected next.
    @exclusivity(unchecked) private var expected = ExpectedClasses([], intrinsicsToo: true)
    @exclusivity(unchecked) private var candidates: [CandidateClass] = []
    private static let candidateLimit = 16

    /// What an archive may hold in the end: these classes, and strings, numbers, collections, ….
    func expectedClasses(_ root: AnyClass?, _ others: [AnyClass]) -> ExpectedClasses {
        let classes = expected.classes
        let start = root == nil ? 0 : 1
        if classes.count == others.count + start, root == nil || classes[0] == root,
            others.indices.allSatisfy({ classes[$0 + start] == others[$0] })
        {
            return expected
        }
        expected = ExpectedClasses([root].compactMap(\.self) + others, intrinsicsToo: true)
        return expected
    }

    /// What is known of an expected class, none of which ever changes.
    func candidate(_ cls: AnyClass) -> CandidateClass {
        if let known = candidates.first(where: { $0.cls == cls }) { return known }
        if candidates.count == Self.candidateLimit { candidates.removeAll(keepingCapacity: true) }
        let made = CandidateClass(cls)
        candidates.append(made)
        return made
    }

    /// Forgets everything but the memory that is there.
    fileprivate func reset() {
        objects.removeAll()
        classes.removeAll()
        intrinsics.removeAll()
    }

    /// How much memory it holds on to, roughly, in bytes.
    fileprivate var footprint: Int { bytes.capacity + objects.footprint }
}

/// A class that may be instantiated, with what its name in an archive is compared with.
struct CandidateClass {
    let cls: AnyClass
    let name: String
    /// The class as one that decodes itself; `nil` if it does not.
    let coding: (any NSCoding.Type)?

    init(_ cls: AnyClass) {
        self.cls = cls
        name = ArchivedClass.of(cls).name
        coding = ArchiveHandler.isFoundations(cls) ? nil : cls as? any NSCoding.Type
    }
}

enum UnarchiverMemoryPool {
    private static let countLimit = 8
    private static let footprintLimit = 1 << 20
    private static let idle = Mutex<[UnarchiverMemory]>([])

    static func take() -> UnarchiverMemory { idle.withLock { $0.popLast() } ?? UnarchiverMemory() }

    static func giveBack(_ memory: UnarchiverMemory) {
        guard memory.footprint <= footprintLimit else { return }
        // Drops the objects that were decoded, whose deinitializers must not run under the lock.
        memory.reset()
        idle.withLock { if $0.count < countLimit { $0.append(memory) } }
    }
}
