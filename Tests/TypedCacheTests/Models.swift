import Foundation
import Synchronization

@testable import TypedCache

// The classic pattern, as users write it.

struct Coordinate: Equatable {
    let latitude: Double
    let longitude: Double
}

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
extension Coordinate: Encoded { var encoder: EncodableCoordinate { .init(coordinate: self) } }

struct City: Codable, Encoded, Equatable {
    var name: String
    var population: Int
    var latitude = 1.5
}

struct Village: Codable, Encoded, Equatable {
    var name: String
    var population: Int
    var latitude = 1.5
}

class Order: NSObject, NSCoding {
    var order: String

    init(order: String) { self.order = order }

    required init?(coder: NSCoder) {
        guard let order = coder.decodeObject(forKey: "order") as? String else { return nil }
        self.order = order
    }

    func encode(with coder: NSCoder) { coder.encode(order, forKey: "order") }
}

extension Order: WrapperEncoder { var value: Order? { self } }
extension Order: Encoded { var encoder: Order { self } }

class Family: Order {
    var family: String

    init(order: String, family: String) {
        self.family = family
        super.init(order: order)
    }

    required init?(coder: NSCoder) {
        guard let family = coder.decodeObject(forKey: "family") as? String else { return nil }
        self.family = family
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(family, forKey: "family")
    }
}

final class SubFamily: Family {}

/// Throws when it is encoded with the text "bad".
struct Fickle: Codable, Encoded, Equatable {
    var text: String

    init(_ text: String) { self.text = text }

    func encode(to encoder: any Encoder) throws {
        if text == "bad" { throw CocoaError(.coderInvalidValue) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
    }
}

/// A clock that is moved by hand.
final class TestClock: CacheClock {
    private let time = Mutex(Date(timeIntervalSinceReferenceDate: 1_000_000))

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
