import Foundation

/// Two fields, as an `NSCoding` class for the archivers.
final class EncodableCoordinate: NSObject, NSCoding {
    let coordinate: Coordinate?

    init(_ coordinate: Coordinate?) { self.coordinate = coordinate }

    required init?(coder: NSCoder) {
        guard let latitude = coder.decodeObject(forKey: "latitude") as? Double,
            let longitude = coder.decodeObject(forKey: "longitude") as? Double
        else { return nil }
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }

    func encode(with coder: NSCoder) {
        // Optionals are encoded as objects, which Foundation's `decodeObject` needs.
        coder.encode(coordinate?.latitude, forKey: "latitude")
        coder.encode(coordinate?.longitude, forKey: "longitude")
    }
}
