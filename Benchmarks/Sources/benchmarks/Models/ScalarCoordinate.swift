import Foundation

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
