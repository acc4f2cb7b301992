import Foundation

/// Two fields, as a Codable value.
struct Coordinate: Codable {
    let latitude: Double
    let longitude: Double
}

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

/// Two fields, as an `NSCoding` class that stores them as numbers, not objects.
final class ScalarCoordinate: NSObject, NSCoding {
    let coordinate: Coordinate

    init(_ coordinate: Coordinate) { self.coordinate = coordinate }

    required init?(coder: NSCoder) {
        coordinate = Coordinate(
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude")
        )
    }

    func encode(with coder: NSCoder) {
        coder.encode(coordinate.latitude, forKey: "latitude")
        coder.encode(coordinate.longitude, forKey: "longitude")
    }
}
