/// Measurements of one piece of work and one unit that differ in subject and in one number.
struct Growth {
    /// Fewer places make no line.
    static let leastPlaces = 3

    let parameter: String
    let findings: [Finding]

    /// Splits findings into those that can be drawn as lines, and the rest.
    static func split(_ findings: [Finding]) -> (growths: [Growth], rest: [Finding]) {
        var works: [String] = []
        var members: [String: [Finding]] = [:]
        for finding in findings {
            let key = "\(finding.work)\u{0}\(finding.outcome.unit)"
            if members[key] == nil { works.append(key) }
            members[key, default: []].append(finding)
        }
        var growths: [Growth] = []
        var rest: [Finding] = []
        for findings in works.compactMap({ members[$0] }) {
            guard let parameter = growing(in: findings) else {
                rest += findings
                continue
            }
            for panel in panels(findings, without: parameter) {
                let places = Set(panel.compactMap { $0.parameters[parameter] })
                if places.count >= leastPlaces {
                    growths.append(Growth(parameter: parameter, findings: panel))
                } else {
                    rest += panel
                }
            }
        }
        return (growths, rest)
    }

    /// The parameter with the most different numbers, if there are enough to draw a line.
    private static func growing(in findings: [Finding]) -> String? {
        var places: [String: Set<String>] = [:]
        for finding in findings {
            for (name, text) in finding.parameters where Quantity(text) != nil {
                places[name, default: []].insert(text)
            }
        }
        let best = places.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.first
        return best.flatMap { $0.value.count >= leastPlaces ? $0.key : nil }
    }

    private static func panels(_ findings: [Finding], without parameter: String) -> [[Finding]] {
        var order: [[String: String]] = []
        var panels: [[String: String]: [Finding]] = [:]
        for finding in findings {
            let others = finding.parameters.filter { $0.key != parameter }
            if panels[others] == nil { order.append(others) }
            panels[others, default: []].append(finding)
        }
        return order.compactMap { panels[$0] }
    }
}
