import Foundation
import TestSupport

@testable import ArchiveStore

extension SeededGenerator {
    /// Bytes of a length between 0 and `limit`, mostly short; of few or of all values.
    mutating func archive(upTo limit: Int = 70_000) -> [UInt8] {
        let count = Int.random(in: 0...(limit >> Int.random(in: 0...10, using: &self)), using: &self)
        let bytes = bytes(count)
        return Bool.random(using: &self) ? bytes.map { $0 & 3 } : bytes
    }

    /// Tags that are alike, up to one that Swift takes as equal to another.
    static let tags = ["a", "b", "é", "e\u{301}"]

    mutating func attributes() -> EntryAttributes {
        var attributes = EntryAttributes(
            storedAt: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &self))
        )
        if Bool.random(using: &self) {
            attributes.expiresAt = attributes.storedAt.addingTimeInterval(.random(in: 0.1...1e9, using: &self))
            attributes.idleTime = Bool.random(using: &self) ? .random(in: 0...100, using: &self) : nil
            attributes.staleWhileRevalidate = Bool.random(using: &self) ? .random(in: 0...1e8, using: &self) : 0
            attributes.staleIfError = Bool.random(using: &self) ? .random(in: 0...1e8, using: &self) : 0
        }
        attributes.loadTime = Bool.random(using: &self) ? .random(in: 0...10, using: &self) : 0
        // The last two are equal to Swift, and no two entries have both.
        for tag in Self.tags.dropLast() where Int.random(in: 0..<3, using: &self) == 0 {
            attributes.tags.append(tag)
        }
        return attributes
    }
}
