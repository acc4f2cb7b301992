import Foundation
import KeyedArchive

/// An object of a graph that is sent: it shares its content with others, and refers back.
class Parcel: NSObject, NSCoding {
    let name: String
    var content: [Parcel]
    weak var outer: Parcel?

    init(_ name: String, content: [Parcel] = []) {
        self.name = name
        self.content = content
    }

    required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String,
            let content = coder.decodeObject(forKey: "content") as? [Parcel]
        else { return nil }
        self.name = name
        self.content = content
        outer = coder.decodeObject(forKey: "outer") as? Parcel
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(content, forKey: "content")
        coder.encode(outer, forKey: "outer")
    }
}

final class HeavyParcel: Parcel {}

final class Contraband: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

/// A Codable message.
struct Order: Codable, Equatable, Sendable {
    var number: Int
    var text = "text"

    /// An order with an archive of more than `byteCount` bytes.
    static func long(_ number: Int, byteCount: Int) -> Order {
        Order(number: number, text: String(repeating: "x", count: byteCount))
    }
}
