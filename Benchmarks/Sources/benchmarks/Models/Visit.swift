import Foundation

/// Five fields, with strings and a date, as a Codable value.
struct Visit: Codable {
    let number: Int
    let place: String
    let note: String
    let rating: Double
    let date: Date

    /// Visits that are all different and the same in every run.
    static let thousand = (0..<1_000).map(make)

    static func make(_ number: Int) -> Visit {
        Visit(
            number: number,
            place: "Place \(number * 7_919 % 1_000)",
            note: "It was the visit \(number), and there was something to see",
            rating: Double(number % 50) / 10,
            date: Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(number) * 86_400)
        )
    }
}
