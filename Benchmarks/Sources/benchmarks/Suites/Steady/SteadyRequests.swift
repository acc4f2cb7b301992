import Workloads

/// Keys of which a fifth get four fifths of all requests.
struct SteadyRequests {
    private let keyCount: Int
    private var generator: SeededGenerator

    init(keyCount: Int, seed: UInt64) {
        self.keyCount = keyCount
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> Int {
        let hotCount = keyCount / 5
        let isHot = Int.random(in: 0..<5, using: &generator) < 4
        return isHot
            ? Int.random(in: 0..<hotCount, using: &generator)
            : Int.random(in: hotCount..<keyCount, using: &generator)
    }
}
