import Foundation
import TypedCache

/// Bytes, without a type of their own.
struct Picture: Codable, Encoded {
    let content: Data
}
