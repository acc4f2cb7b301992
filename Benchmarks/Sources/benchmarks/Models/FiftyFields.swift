import Foundation

/// Fifty numbers under keys of their own, all of which are read again.
class FiftyFields: NSObject, NSCoding {
    static let keys = (0..<50).map { "field\($0)" }
    /// Three of the keys, from all over.
    static let someKeys = [keys[3], keys[24], keys[47]]
    static let sample = (0..<50).map { Double($0) * 1.25 + 0.5 }

    let values: [Double]

    init(values: [Double]) { self.values = values }

    required init?(coder: NSCoder) {
        values = Self.keysToRead.map { coder.decodeDouble(forKey: $0) }
    }

    class var keysToRead: [String] { keys }

    func encode(with coder: NSCoder) {
        for (key, value) in zip(Self.keys, values) { coder.encode(value, forKey: key) }
    }
}
