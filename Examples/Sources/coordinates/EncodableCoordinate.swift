import Foundation
import TypedCache

/// The wrapper that is archived in a coordinate's place: the classic NSCoding pattern, unchanged.
final class EncodableCoordinate: NSObject, NSCoding {
    let coordinate: Coordinate?

    init(coordinate: Coordinate?) { self.coordinate = coordinate }

    required init?(coder decoder: NSCoder) {
        guard let latitude = decoder.decodeObject(forKey: "latitude") as? Double,
            let longitude = decoder.decodeObject(forKey: "longitude") as? Double
        else { return nil }
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }

    func encode(with encoder: NSCoder) {
        encoder.encode(coordinate?.latitude, forKey: "latitude")
        encoder.encode(coordinate?.longitude, forKey: "longitude")
    }
}

extension EncodableCoordinate: WrapperEncoder { var value: Coordinate? { coordinate } }
