import ArchiveStore
import Foundation
import Synchronization

/// By how much the engine's clock is ahead of this machine's, in seconds. Entries in the engine have its time, so that
/// machines see an entry expire at one instant, though their clocks disagree.
struct EngineClock {
    var secondsAhead = 0.0

    /// Attributes of an entry here, in the engine's time.
    func there(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: secondsAhead) }

    /// Attributes of an entry in the engine, in this machine's time.
    func here(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: -secondsAhead) }

    private func moved(_ attributes: EntryAttributes, by seconds: Double) -> EntryAttributes {
        if seconds == 0 { return attributes }
        var attributes = attributes
        attributes.storedAt += seconds
        attributes.expiresAt? += seconds
        return attributes
    }
}

/// The engine's clock as far as a tier knows it.
package final class ClockOffset: Sendable {
    private let value = Mutex(EngineClock())

    package init() {}

    var clock: EngineClock { value.withLock { $0 } }

    package func set(_ secondsAhead: Double) { value.withLock { $0.secondsAhead = secondsAhead } }
}
