import Foundation
import TypedCache

/// What is nothing but bytes.
struct Picture: Codable, Encoded {
    let content: Data
}
