import Foundation
import Synchronization

/// The details of a stored list: as JSON, and as the value once that was decoded.
final class ListDetails: Equatable, Sendable {
    let json: String
    private let value: Mutex<(any Sendable)?>

    /// - Returns: `nil` for a list without details.
    /// - Throws: `EncodingError`.
    init?<Details: Codable & Sendable>(_ details: Details) throws {
        if Details.self == NoDetails.self { return nil }
        let encoder = JSONEncoder()
        // Dictionaries have no order, and equal details are to be equal.
        encoder.outputFormatting = .sortedKeys
        json = String(decoding: try encoder.encode(details), as: UTF8.self)
        value = Mutex(details)
    }

    init(json: String) {
        self.json = json
        value = Mutex(nil)
    }

    /// The value; `nil` if the type decodes it no longer.
    func value<Details: Decodable & Sendable>(_ type: Details.Type) -> Details? {
        if let known = value.withLock({ $0 }) as? Details { return known }
        guard let decoded = try? JSONDecoder().decode(type, from: Data(json.utf8)) else { return nil }
        value.withLock { $0 = decoded }
        return decoded
    }

    static func == (left: ListDetails, right: ListDetails) -> Bool { left.json == right.json }
}
