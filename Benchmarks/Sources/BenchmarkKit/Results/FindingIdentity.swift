/// The fields that two runs' findings of the same thing have in common.
struct FindingIdentity: Hashable {
    let suite: String
    let title: String
    let subject: String
    let unit: String
}
