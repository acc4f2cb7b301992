/// Finds the name that a mistyped word most likely stands for.
enum Suggestion {
    /// The candidate that is nearest to `text`, if it is near; the first one of several.
    static func nearest(to text: String, among candidates: [String]) -> String? {
        // A typing error does not make a name ten times as long, and the time for a distance is the product of both
        // lengths.
        guard text.count <= 40 else { return nil }
        let ranked = candidates.map { ($0, distance(from: text, to: $0)) }
        guard let (candidate, distance) = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= max(1, candidate.count / 3) ? candidate : nil
    }

    /// How many characters must be inserted, deleted, replaced or swapped with their neighbour to make `other`
    /// of `text` (the restricted Damerau–Levenshtein distance).
    static func distance(from text: String, to other: String) -> Int {
        let from = Array(text)
        let to = Array(other)
        var beforeLast = [Int](repeating: 0, count: to.count + 1)
        var last = Array(0...to.count)
        for (row, character) in from.enumerated() {
            var current = [row + 1]
            for (column, target) in to.enumerated() {
                var least = min(
                    last[column + 1] + 1,
                    current[column] + 1,
                    last[column] + (character == target ? 0 : 1)
                )
                if row > 0, column > 0, character == to[column - 1], from[row - 1] == target {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }
}
