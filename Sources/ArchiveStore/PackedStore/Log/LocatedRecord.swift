/// An entry's record, its slot in the index, and its bytes.
///
/// A class, because it is large and passed on often: copying it took a twentieth of a fetch.
final class LocatedRecord {
    let slot: IndexSlot
    let record: Record
    /// All bytes of the record, or those of the head only.
    let bytes: [UInt8]
    /// The dictionary by which the payload of a bare record was found sound; `nil` for one that was not looked at.
    let dictionary: PresetDictionary?

    init(slot: IndexSlot, record: Record, bytes: [UInt8], dictionary: PresetDictionary? = nil) {
        self.dictionary = dictionary
        self.slot = slot
        self.record = record
        self.bytes = bytes
    }

    /// The record's key; `nil` if a store does not accept it.
    var key: StoreKey? {
        String(validating: record.key, as: UTF8.self).flatMap { try? StoreKey($0) }
    }

    /// How many bytes the removal of the entry takes.
    var removalByteCount: Int { Record.largestFieldsByteCount + record.key.count }
}
