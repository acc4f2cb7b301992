import Foundation
import Synchronization

/// The right to keep one more directory or segment open for speed alone, given back when the object is released.
///
/// Without a reservation, a store opens its directory or segment for each call, which costs about a microsecond, and
/// nothing else changes.
final class DescriptorReservation: Sendable {
    private static let taken = Atomic<Int>(0)

    private let isCounted: Bool

    private init(isCounted: Bool) { self.isCounted = isCounted }

    deinit {
        if isCounted { Self.taken.subtract(1, ordering: .relaxed) }
    }

    /// A reservation, or `nil` if all are taken. The descriptors of a simulation are not the system's.
    static func make(_ layer: FileLayer) -> DescriptorReservation? {
        if layer.world != nil { return DescriptorReservation(isCounted: false) }
        let (_, count) = taken.add(1, ordering: .relaxed)
        guard count <= DescriptorLimit.reservations else {
            taken.subtract(1, ordering: .relaxed)
            return nil
        }
        return DescriptorReservation(isCounted: true)
    }
}

/// How the stores of a process share its descriptors, often 1,024, or only 256: half are for open stores, a quarter for
/// segments and directories that stay open for speed, and a quarter is left to the rest of the program.
enum DescriptorLimit {
    /// For all open stores, as ``DescriptorPool`` divides them.
    static let stores = min(ofProcess / 2, 16_384)
    /// For ``DescriptorReservation``.
    static let reservations = min(ofProcess / 4, 4096)

    /// As `getrlimit` says it when the first store is opened.
    private static let ofProcess: Int = {
        var limits = rlimit()
        #if canImport(Glibc)
            let status = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        #else
            let status = getrlimit(RLIMIT_NOFILE, &limits)
        #endif
        return status == 0 ? Int(clamping: limits.rlim_cur) : 0
    }()
}
