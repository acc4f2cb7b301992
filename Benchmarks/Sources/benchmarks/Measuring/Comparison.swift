/// Several ways to do the same work, measured in turns, so that whatever else the machine does meets all.
struct Comparison {
    /// How many samples are taken of each contender.
    static let sampleCount = 11
    /// What one sample takes at least, so that the clock's own cost does not show.
    private static let sampleDuration = Duration.milliseconds(20)

    let work: String
    /// The first one is what the others are compared with.
    let contenders: [Contender]

    func measured() throws -> [Measurement] {
        // Finding the counts warms up everything as well.
        let counts = try contenders.map(Self.calibratedCount)
        var samples = [[Duration]](repeating: [], count: contenders.count)
        for round in 0..<Self.sampleCount {
            for turn in contenders.indices {
                // Another one begins each round: none always follows the same one.
                let index = (round + turn) % contenders.count
                samples[index].append(try Self.time(contenders[index], counts[index]) / counts[index])
            }
        }
        return zip(contenders, samples).map { Measurement(name: $0.name, samples: $1) }
    }

    private static func calibratedCount(of contender: Contender) throws -> Int {
        var count = 1
        while true {
            let duration = try time(contender, count)
            if duration >= sampleDuration { return count }
            count *= 2
        }
    }

    private static func time(_ contender: Contender, _ count: Int) throws -> Duration {
        let clock = ContinuousClock()
        return try clock.measure { try contender.run(count) }
    }
}
