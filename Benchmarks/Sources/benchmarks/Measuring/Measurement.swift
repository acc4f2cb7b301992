/// How long one contender took for one piece of work.
struct Measurement {
    let name: String
    let median: Duration
    let fastest: Duration
    let slowest: Duration

    /// - Parameter samples: at least one.
    init(name: String, samples: [Duration]) {
        let sorted = samples.sorted()
        self.name = name
        median = sorted[sorted.count / 2]
        fastest = sorted[0]
        slowest = sorted[sorted.count - 1]
    }
}
