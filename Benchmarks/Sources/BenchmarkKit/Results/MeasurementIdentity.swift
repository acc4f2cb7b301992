/// What two runs' measurements of the same thing have in common.
struct MeasurementIdentity: Hashable {
    let suite: String
    let title: String
    let subject: String
    let unit: String
}
