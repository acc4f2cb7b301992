/// An entry that is to be appended to a packed store's log.
struct NewRecord {
    let key: StoreKey
    let digest: KeyDigest
    let attributes: EntryAttributes
    /// Makes its record for segments with a dictionary, or with none.
    let makeDraft: (PresetDictionary?) throws(StoreError) -> RecordDraft
}
