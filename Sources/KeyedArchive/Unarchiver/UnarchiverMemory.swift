import Foundation
import Synchronization

/// The memory of an unarchiver, kept for the next one: allocating it takes longer than reading a small archive.
///
/// Unchecked: it belongs to one unarchiver at a time, and changes hands only in `UnarchiverMemoryPool`.
final class UnarchiverMemory: @unchecked Sendable {
    // Unchecked exclusivity: as in `KeyedUnarchiver`.
    @exclusivity(unchecked) private var bytes = RawBuffer<UInt8>(capacity: 512)
    let budget = DecodingBudget()
    @exclusivity(unchecked) var objects = ObjectTable()
    let classes: ClassResolver
    @exclusivity(unchecked) var keyOrder = KeyOrder()
    /// Of the types that were decoded from this archive and from those before.
    @exclusivity(unchecked) var kinds = TypeTable<CodableKind>()
    @exclusivity(unchecked) var plans = TypePlans()

    /// Whether it is kept for other unarchivers.
    let isPooled: Bool

    init(isPooled: Bool = true) {
        self.isPooled = isPooled
        classes = ClassResolver(budget)
    }

    /// Copies an archive's bytes over the former ones.
    func fill(with archive: UnsafeRawBufferPointer) {
        bytes.truncate(to: 0)
        archive.withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
    }

    /// The archive in this memory. It must not be used any longer when the memory is given back.
    func open() throws(ArchiveError) -> OpenedArchive { try ArchiveSource.open(ArchiveBytes(borrowing: bytes)) }

    /// As ``open()``, of an archive of a Codable type.
    ///
    /// - Parameter isNoted: whether the decoding should be noted for a plan.
    func open(
        for type: Any.Type,
        isNoted: inout Bool
    ) throws(ArchiveError) -> (archive: OpenedArchive, plan: ArchivePlan?) {
        let bytes = ArchiveBytes(borrowing: bytes)
        if bytes.isBinary, let list = try? BinaryPropertyList(bytes),
            let plan = plans.plan(for: type, list, isNoted: &isNoted)
        {
            return (OpenedArchive(source: ArchiveSource(list, plan.source), origin: nil), plan)
        }
        return (try ArchiveSource.open(bytes), nil)
    }

    /// Forgets everything but the memory that is there.
    func reset() {
        objects.removeAll()
        classes.reset()
        keyOrder = KeyOrder()
    }

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { bytes.capacity + objects.footprint }
}

/// The memory of unarchivers that are done.
enum UnarchiverMemoryPool {
    private static let countLimit = 8
    static let footprintLimit = 1 << 20
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
        guard memory.isPooled else { return }
        idle.withLock { if $0.count < countLimit { $0.append(memory) } }
    }
}
