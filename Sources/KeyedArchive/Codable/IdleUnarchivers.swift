import Foundation
import Synchronization

/// The unarchivers of Codable values that are done, and that nothing else refers to: to make one, and to free it, takes
/// a tenth of decoding a small value.
enum IdleUnarchivers {
    /// Unchecked: an unarchiver belongs to one thread at a time, and changes hands only here.
    private struct Idle: @unchecked Sendable {
        let unarchiver: KeyedUnarchiver
    }

    private static let countLimit = 4
    private static let idle = Mutex<[Idle]>([])

    /// An unarchiver of a copy of an archive's bytes.
    @inline(__always)
    static func take(
        copying archive: some ContiguousBytes,
        decoding type: Any.Type
    ) throws(ArchiveError) -> KeyedUnarchiver {
        let limits = ArchiveLimits()
        guard let unarchiver = idle.withLock({ $0.popLast() })?.unarchiver else {
            let memory = UnarchiverMemoryPool.take(copying: archive)
            return try KeyedUnarchiver(memory, decoding: type, limits: limits)
        }
        archive.withUnsafeBytes { unarchiver.memory.fill(with: $0) }
        try unarchiver.reopen(decoding: type, limits: limits)
        return unarchiver
    }

    /// Takes an unarchiver whose value was decoded, unless a part of the value refers to it.
    static func giveBack(_ unarchiver: inout KeyedUnarchiver) {
        // One that met unusual values is freed, which gives its memory back.
        guard unarchiver.plan != nil, unarchiver.isClean, isKnownUniquelyReferenced(&unarchiver),
            unarchiver.memory.footprint <= UnarchiverMemoryPool.footprintLimit
        else { return }
        // Before the lock is taken: deinitializers of decoded objects must not run under it.
        unarchiver.close()
        let returned = Idle(unarchiver: unarchiver)
        idle.withLock { if $0.count < countLimit { $0.append(returned) } }
    }
}
