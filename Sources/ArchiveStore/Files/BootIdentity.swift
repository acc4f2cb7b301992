import Foundation

/// Tells one start of the system, with one volume in it, from all others: bytes that a process wrote without waiting
/// for the device may be missing after a restart, and never within one.
enum BootIdentity {
    /// The identity for files on the volume of a directory; 0 where the system does not tell, which equals no other.
    static func current(for root: Directory) -> UInt64 {
        if let world = root.layer.world { return world.boot }
        guard let system else { return 0 }
        return max(1, KeyDigest(hashing: system + Array(String(root.identity.device).utf8)).low)
    }

    /// Whether files were written in the same start of the system.
    static func areSame(_ one: UInt64, _ other: UInt64) -> Bool { one == other && one != 0 }

    private static let system: [UInt8]? = {
        #if canImport(Darwin)
            var byteCount = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &byteCount, nil, 0) == 0, byteCount > 0 else {
                return nil
            }
            var bytes = [UInt8](repeating: 0, count: byteCount)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &byteCount, nil, 0) == 0 else { return nil }
            return Array(bytes.prefix(byteCount))
        #else
            // Of the system, not of a store: no test's volume has it.
            guard let file = fopen("/proc/sys/kernel/random/boot_id", "r") else { return nil }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 36)
            return fread(&bytes, 1, bytes.count, file) == bytes.count ? bytes : nil
        #endif
    }()
}
