import ArchiveStore
import Foundation
import Synchronization

/// By how much the engine's clock is ahead of this machine's, in seconds. Entries in the engine have its time, so that
/// machines see an entry expire at one instant, though their clocks disagree.
package final class ClockOffset: Sendable {
    private let seconds = Mutex(0.0)

    package init() {}

    package func set(_ new: Double) { seconds.withLock { $0 = new } }

    /// Attributes of an entry here, in the engine's time.
    func there(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: seconds.withLock { $0 }) }

    /// Attributes of an entry in the engine, in this machine's time.
    func here(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: -seconds.withLock { $0 }) }

    private func moved(_ attributes: EntryAttributes, by seconds: Double) -> EntryAttributes {
        if seconds == 0 { return attributes }
        var attributes = attributes
        attributes.storedAt += seconds
        attributes.expiresAt? += seconds
        return attributes
    }
}
