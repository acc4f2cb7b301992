@testable import ArchiveStore

extension RecordDraft {
    /// Gives a record its place that is not encrypted.
    mutating func setPlace(_ place: RecordPlace, in form: RecordForm, previous: PreviousRecord?) {
        setPlace(place, in: form, previous: previous) { preconditionFailure("nothing is encrypted") }
    }
}
