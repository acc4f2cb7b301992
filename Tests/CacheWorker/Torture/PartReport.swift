/// The work and the findings of one part.
struct PartReport: Codable {
    let part: String
    /// How the caches kept entries.
    var layout: String?
    /// The number of each operation, under its unit: 1000 “kills”.
    private(set) var figures: [String: Int] = [:]
    var seconds = 0.0
    private(set) var violations: [String] = []
    /// How often each law was broken.
    private(set) var brokenLaws: [String: Int] = [:]
    /// Why it was not done, where that is so.
    var skipped: String?

    /// The names of the figures, in the order of the prose.
    private var order: [String] = []
    /// The first violations of each law.
    private(set) var examples: [String] = []

    private static let examplesPerLaw = 3

    private enum CodingKeys: String, CodingKey {
        case part, layout, figures, seconds, violations, brokenLaws, skipped
    }

    init(part: String) { self.part = part }

    mutating func add(_ count: Int, _ figure: String) {
        if figures[figure] == nil { order.append(figure) }
        figures[figure, default: 0] += count
    }

    /// Sets a figure that is the highest of all.
    mutating func raise(_ figure: String, to number: Int) {
        add(max(0, number - (figures[figure] ?? 0)), figure)
    }

    /// - Parameter place: Where they were found, with the seed.
    mutating func add(_ found: [Violation], _ place: String) {
        for violation in found {
            let text = "\(place): \(violation)"
            violations.append(text)
            brokenLaws[violation.law.rawValue, default: 0] += 1
            if brokenLaws[violation.law.rawValue, default: 0] <= Self.examplesPerLaw { examples.append(text) }
        }
    }

    /// One line.
    var prose: String {
        if let skipped { return "\(part): skipped, \(skipped)" }
        let list = order.map { "\(figures[$0, default: 0]) \($0)" }.joined(separator: ", ")
        let laws = brokenLaws.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        let place = layout.map { " (\($0))" } ?? ""
        return "\(part): \(list) in \(Int(seconds.rounded())) s\(place); \(laws.isEmpty ? "nothing wrong" : laws)"
    }
}
