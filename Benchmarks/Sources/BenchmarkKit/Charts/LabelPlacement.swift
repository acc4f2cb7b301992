/// Moves labels apart that would cover each other.
enum LabelPlacement {
    /// Places as near as may be to the wanted ones, in the same order, at least `distance` apart.
    ///
    /// - Parameters:
    ///   - wanted: in ascending order.
    ///   - range: kept as far as there is room for all.
    static func spread(_ wanted: [Double], distance: Double, within range: ClosedRange<Double>) -> [Double] {
        var places = wanted
        for index in places.indices.dropFirst() { places[index] = max(places[index], places[index - 1] + distance) }
        // Labels that were moved beyond the end push the others back.
        var limit = range.upperBound
        for index in places.indices.reversed() {
            places[index] = min(places[index], limit)
            limit = places[index] - distance
        }
        // With more labels than room the first ones hold, and the last ones go beyond the end.
        limit = range.lowerBound
        for index in places.indices {
            places[index] = max(places[index], limit)
            limit = places[index] + distance
        }
        return places
    }
}
