import Foundation

/// The unarchivers of Codable values that are done, one for each thread: to make one, and to free it, takes a tenth of
/// decoding a small value.
///
/// Not a list for all threads: its lock would be waited for, and an unarchiver that changes threads takes its buffers from
/// one processor's cache to another's, so that two threads decoded no faster than one.
enum IdleUnarchivers {
    /// The place of the current thread's unarchiver, which is freed with the thread; `nil` if the system has no place left.
    /// The unarchiver there is retained once, and nothing else refers to it.
    private static let place: pthread_key_t? = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { unarchiver in
            // On Apple's platforms it is no optional.
            guard let unarchiver = unarchiver as UnsafeMutableRawPointer? else { return }
            Unmanaged<KeyedUnarchiver>.fromOpaque(unarchiver).release()
        }
        return result == 0 ? key : nil
    }()

    /// An unarchiver of a copy of an archive's bytes.
    @inline(__always)
    static func take(
        copying archive: some ContiguousBytes,
        decoding type: Any.Type
    ) throws(ArchiveError) -> KeyedUnarchiver {
        let limits = ArchiveLimits()
        guard let unarchiver = takeIdle() else {
            let memory = UnarchiverMemoryPool.take(copying: archive)
            return try KeyedUnarchiver(memory, decoding: type, limits: limits)
        }
        archive.withUnsafeBytes { unarchiver.memory.fill(with: $0) }
        try unarchiver.reopen(decoding: type, limits: limits)
        return unarchiver
    }

    /// Takes the current thread's unarchiver, and leaves its place empty: a value may decode another one within it.
    private static func takeIdle() -> KeyedUnarchiver? {
        guard let place, let idle = pthread_getspecific(place) else { return nil }
        pthread_setspecific(place, nil)
        return Unmanaged<KeyedUnarchiver>.fromOpaque(idle).takeRetainedValue()
    }

    /// Takes an unarchiver whose value was decoded, unless a part of the value refers to it.
    static func giveBack(_ unarchiver: inout KeyedUnarchiver) {
        // One that met unusual values is freed, which gives its memory back.
        guard unarchiver.plan != nil, unarchiver.isClean, isKnownUniquelyReferenced(&unarchiver),
            unarchiver.memory.footprint <= UnarchiverMemoryPool.footprintLimit
        else { return }
        // Deinitializers of decoded objects may decode other values.
        unarchiver.close()
        guard let place, pthread_getspecific(place) == nil else { return }
        let returned = Unmanaged.passRetained(unarchiver)
        if pthread_setspecific(place, returned.toOpaque()) != 0 { returned.release() }
    }
}
