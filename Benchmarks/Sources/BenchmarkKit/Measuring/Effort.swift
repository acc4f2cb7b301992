/// How long and how often to measure.
struct Effort {
    /// The least time that one sample takes, so that the clock's own cost does not show.
    let sampleDuration: Duration
    /// How many samples are taken of each subject.
    let rounds: Int

    static let full = Effort(sampleDuration: .milliseconds(30), rounds: 15)
    static let quick = Effort(sampleDuration: .milliseconds(5), rounds: 9)
}
