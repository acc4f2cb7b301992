/// A limit that a figure must not exceed, or fall below.
struct Bound: Equatable, CustomStringConvertible {
    enum Relation: String {
        case atMost = "<="
        case atLeast = ">="
    }

    let relation: Relation
    let limit: Double

    /// - Parameter text: such as `<= 12` or `>= 20`.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let relation = Relation(rawValue: String(parts[0])),
            let limit = Double(parts[1]), limit.isFinite
        else { return nil }
        self.relation = relation
        self.limit = limit
    }

    func holds(for value: Double) -> Bool {
        switch relation {
        case .atMost: value <= limit
        case .atLeast: value >= limit
        }
    }

    var description: String { "\(relation.rawValue) \(Figure.count(limit))" }
}
