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

/// Five fields, as an `NSCoding` class for the archivers.
final class EncodableVisit: NSObject, NSCoding {
    let visit: Visit

    init(_ visit: Visit) { self.visit = visit }

    required init?(coder: NSCoder) {
        guard let place = coder.decodeObject(forKey: "place") as? String,
            let note = coder.decodeObject(forKey: "note") as? String,
            let date = coder.decodeObject(forKey: "date") as? Date
        else { return nil }
        visit = Visit(
            number: coder.decodeInteger(forKey: "number"),
            place: place,
            note: note,
            rating: coder.decodeDouble(forKey: "rating"),
            date: date
        )
    }

    func encode(with coder: NSCoder) {
        coder.encode(visit.number, forKey: "number")
        coder.encode(visit.place, forKey: "place")
        coder.encode(visit.note, forKey: "note")
        coder.encode(visit.rating, forKey: "rating")
        coder.encode(visit.date, forKey: "date")
    }
}
