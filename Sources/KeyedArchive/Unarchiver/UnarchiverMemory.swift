import Foundation
import Synchronization

/// The memory of an unarchiver, kept for the next one: allocating it takes longer than reading a small archive.
///
/// Unchecked: it belongs to one unarchiver at a time, and changes hands only in `UnarchiverMemoryPool`.
final class UnarchiverMemory: @unchecked Sendable {
    // Unchecked exclusivity: as in `KeyedUnarchiver`.
    @exclusivity(unchecked) private var bytes = RawBuffer<UInt8>(capacity: 512)
    @exclusivity(unchecked) var objects = DecodedObjects()
    @exclusivity(unchecked) var classes = ClassCache<ResolvedClass>()
    @exclusivity(unchecked) var intrinsics = ClassCache<UnarchivedIntrinsic?>()
    @exclusivity(unchecked) var keyOrder = KeyOrder()
    @exclusivity(unchecked) var expected = ExpectedClasses([], intrinsicsToo: true)
    @exclusivity(unchecked) private var candidates: [CandidateClass] = []
    private static let candidateLimit = 16

    /// Copies an archive's bytes, over those that were there.
    func fill(with archive: UnsafeRawBufferPointer) {
        bytes.truncate(to: 0)
        archive.withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
    }

    /// The archive in this memory. It must not be used any more when the memory is given back.
    func source() throws(ArchiveError) -> ArchiveSource { try ArchiveSource(ArchiveBytes(borrowing: bytes)) }

    /// Sets which classes an archive may hold; strings, numbers, collections, … may be there too.
    ///
    /// Mostly they are those of the archive before.
    func expect(_ root: AnyClass?, _ others: [AnyClass]) {
        expected.intrinsicsToo = true
        let start = root == nil ? 0 : 1
        if expected.classes.count == others.count + start, root == nil || expected.classes[0] == root,
            others.indices.allSatisfy({ expected.classes[$0 + start] == others[$0] })
        {
            return
        }
        expected = ExpectedClasses([root].compactMap(\.self) + others, intrinsicsToo: true)
    }

    /// The first of the expected classes that decodes itself and has the name `name`, compared by its bytes.
    func expectedClass(
        named name: BinaryPropertyList.Reference,
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> (any NSCoding.Type)? {
        for index in expected.classes.indices {
            let position = candidate(expected.classes[index])
            if let type = candidates[position].coding,
                try list.isString(name, equalTo: candidates[position].name)
            {
                return type
            }
        }
        return nil
    }

    /// The position of a class in `candidates`. The entry of a class never changes.
    private func candidate(_ cls: AnyClass) -> Int {
        for index in candidates.indices where candidates[index].cls == cls { return index }
        if candidates.count == Self.candidateLimit { candidates.removeAll(keepingCapacity: true) }
        candidates.append(CandidateClass(cls))
        return candidates.count - 1
    }

    /// Forgets everything but the memory that is there.
    fileprivate func reset() {
        objects.removeAll()
        classes.removeAll()
        intrinsics.removeAll()
        keyOrder = KeyOrder()
    }

    /// How much memory it holds on to, roughly, in bytes.
    fileprivate var footprint: Int { bytes.capacity + objects.footprint }
}

/// A class that may be instantiated, and the name that names in an archive are compared with.
private struct CandidateClass {
    let cls: AnyClass
    let name: String
    /// The class as one that decodes itself; `nil` if it does not.
    let coding: (any NSCoding.Type)?

    init(_ cls: AnyClass) {
        self.cls = cls
        name = ArchivedClass.of(cls).name
        coding = KeyedUnarchiver.decodable(cls)
    }
}

enum UnarchiverMemoryPool {
    private static let countLimit = 8
    private static let footprintLimit = 1 << 20
    private static let idle = Mutex<[UnarchiverMemory]>([])

    /// Memory with a copy of an archive's bytes.
    @inline(__always)
    static func take(copying archive: some ContiguousBytes) -> UnarchiverMemory {
        let memory = idle.withLock { $0.popLast() } ?? UnarchiverMemory()
        archive.withUnsafeBytes { memory.fill(with: $0) }
        return memory
    }

    static func giveBack(_ memory: UnarchiverMemory) {
        guard memory.footprint <= footprintLimit else { return }
        // Drops the decoded objects before the lock is taken: their deinitializers must not run under it.
        memory.reset()
        idle.withLock { if $0.count < countLimit { $0.append(memory) } }
    }
}
