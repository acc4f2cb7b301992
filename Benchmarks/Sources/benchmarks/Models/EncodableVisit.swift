import Foundation

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
