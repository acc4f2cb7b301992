import Foundation
import Testing

@testable import ArchiveStore

/// The bytes and the count of all entries' files, read without any help of a store.
func filesTotal(_ directory: String) throws -> NameSize {
    let files = FileManager.default
    var total = NameSize.zero
    for shard in try files.contentsOfDirectory(atPath: directory) where shard.count == 2 {
        for name in try files.contentsOfDirectory(atPath: directory + "/" + shard) {
            // It may be gone by now, if others are at work.
            let attributes = try? files.attributesOfItem(atPath: directory + "/" + shard + "/" + name)
            guard let size = attributes?[.size] as? Int else { continue }
            total.byteCount += size
            total.count += 1
        }
    }
    return total
}

/// The records of a journal; `nil` if there is none.
func journalRecords(_ directory: String) throws -> [JournalRecord]? {
    guard FileManager.default.fileExists(atPath: directory + "/journal") else { return nil }
    let bytes = try readFile(directory + "/journal")
    return try stride(from: 0, to: bytes.count, by: JournalRecord.byteCount).map {
        try #require(JournalRecord(bytes[$0..<min($0 + JournalRecord.byteCount, bytes.count)]), "byte \($0)")
    }
}

/// Checks that a journal, if there is one, has the true sizes of the entries' files.
func checkLedger(_ directory: String) throws {
    guard let records = try journalRecords(directory) else { return }
    var ledger = Ledger(limit: NameSize(byteCount: .max, count: .max))
    for record in records { ledger.apply(record) }
    #expect(try ledger.total == filesTotal(directory))
}
