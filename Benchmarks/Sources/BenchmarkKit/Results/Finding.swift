/// The outcome of one subject at one piece of work.
package struct Finding: Codable, Equatable, Sendable {
    package let suite: String
    package let work: String
    /// The parameters of the work, by name, such as `entries: 1000`.
    package let parameters: [String: String]
    package let subject: String
    package let isOurs: Bool
    package let outcome: Outcome

    package init(
        suite: String,
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        outcome: Outcome
    ) {
        self.suite = suite
        self.work = work
        self.parameters = parameters
        self.subject = subject
        self.isOurs = isOurs
        self.outcome = outcome
    }

    /// The work with its parameters, as tables and gates call it: `save an archive, size 1 KiB`.
    package var title: String {
        let details = parameters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ([work] + details).joined(separator: ", ")
    }

    /// The fields that tell this from every other finding of a run.
    var identity: FindingIdentity {
        FindingIdentity(suite: suite, title: title, subject: subject, unit: outcome.unit)
    }
}
