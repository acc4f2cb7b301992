/// What one part did and found.
struct PartReport: Codable {
    let part: String
    /// In the order of the prose, each with its unit: “1,000 kills”.
    var figures: [String: Int] = [:]
    var order: [String] = []
    var seconds = 0.0
    var violations: [String] = []
    /// Why it was not done, where that is so.
    var skipped: String?

    init(part: String) { self.part = part }

    mutating func add(_ count: Int, _ figure: String) {
        if figures[figure] == nil { order.append(figure) }
        figures[figure, default: 0] += count
    }

    private enum CodingKeys: String, CodingKey { case part, figures, seconds, violations, skipped }

    var prose: String {
        if let skipped { return "\(part): skipped, \(skipped)" }
        let list = order.map { "\(figures[$0, default: 0]) \($0)" }.joined(separator: ", ")
        let finding = violations.isEmpty ? "nothing wrong" : "\(violations.count) things wrong"
        return "\(part): \(list) in \(Int(seconds.rounded())) s; \(finding)"
    }
}
