/// The content of a slot: nothing, an entry or a fault.
enum SlotContent {
    case absent
    case entry(EntryFile, FileStatus)
    case fault(EntryFault)

    /// The entry that `make` gives, or why it gives none.
    init(_ status: FileStatus, _ make: () throws(EntryFault) -> EntryFile) {
        do {
            self = .entry(try make(), status)
        } catch {
            self = .fault(error)
        }
    }

    /// How much of a file is looked at.
    enum Extent {
        /// Every byte, checked and kept, so that the archive can be inflated.
        case archive
        /// Every byte, checked; only key and footer are kept.
        case information
        /// Key and footer only, taken on trust.
        case tail
    }
}
