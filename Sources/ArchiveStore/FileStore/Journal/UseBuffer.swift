import Synchronization

/// Which entries were fetched from disk since the journal was last written to.
///
/// A fetch changes nothing else: a key that is fetched ten thousand times is one name here, and a few records in
/// the journal.
final class UseBuffer: Sendable {
    private static let mostNames = 8_192
    private static let mostUses: UInt8 = 3

    private let uses = Mutex<[EntryName: UInt8]>([:])

    func mark(_ name: EntryName) {
        uses.withLock { uses in
            if let count = uses[name] {
                if count < Self.mostUses { uses[name] = count + 1 }
            } else if uses.count < Self.mostNames {
                uses[name] = 1
            }
        }
    }

    /// Takes the marked names and their uses out of the buffer.
    func take() -> [EntryName: UInt8] {
        uses.withLock { uses in
            let taken = uses
            if !taken.isEmpty { uses = [:] }
            return taken
        }
    }
}
