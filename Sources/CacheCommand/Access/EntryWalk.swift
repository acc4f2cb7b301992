import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// Goes through all entries of a cache, one after another, and changes nothing.
struct EntryWalk {
    let cache: any CacheAccess
    let interruption: any Interruption
    /// The time since some moment in the past.
    let now: () -> Duration

    /// Gives each entry to `body`, or why it cannot be read, until a signal comes.
    func run(
        reporter: inout EntryReporter,
        _ body: (Result<EntryInformation, CacheError>, inout EntryReporter) throws -> Void
    ) throws {
        let start = now()
        let parts = cache.partCount
        var count = 0
        for part in 0..<parts {
            guard interruption.signal == nil else { return }
            for entry in try cache.entries(inPart: part) {
                guard interruption.signal == nil else { return }
                try body(entry, &reporter)
                count += 1
                // Parts of the hash have about as many entries each. A single part shows no progress.
                reporter.advanced(
                    Progress(
                        records: count,
                        noun: "entries",
                        bytes: part,
                        size: parts > 1 ? parts : nil,
                        elapsed: now() - start
                    )
                )
            }
        }
    }

    /// The largest archive, in bytes, that is held whole and parsed. Larger ones only pass through, so that no entry
    /// takes more memory than it takes on disk: import parses them.
    static let largestParsed = 16 << 20

    /// Reads all of an entry that was listed, and sees whether it is a keyed archive.
    ///
    /// - Parameter sink: is given the archive's bytes in their order; of one that is damaged, it may have been given
    ///   the beginning.
    /// - Returns: `nil` if the entry is gone.
    /// - Throws: ``EntryFinding``, and the errors of `sink`.
    func read(
        _ listed: Result<EntryInformation, CacheError>,
        into sink: ([UInt8]) throws -> Void = { _ in }
    ) throws -> EntryInformation? {
        let entry: EntryInformation
        do throws(CacheError) { entry = try listed.get() } catch { throw EntryFinding(error) }
        var held: [UInt8] = []
        var isLarge = false
        var failure: (any Error)?
        func take(_ piece: [UInt8]) throws {
            if !isLarge, held.count + piece.count > Self.largestParsed {
                isLarge = true
                try sink(held)
                held = []
            }
            if isLarge {
                try sink(piece)
            } else {
                if held.isEmpty { try ArchiveTree.check(beginning: piece) }
                held += piece
            }
        }
        let information: EntryInformation?
        do throws(CacheError) {
            information = try cache.peek(entry.key) { piece in
                do {
                    try take(piece)
                } catch {
                    failure = error
                }
                return failure == nil
            }
        } catch {
            throw EntryFinding(error, key: entry.key, entry: entry)
        }
        guard let information else { return nil }
        do {
            if let failure { throw failure }
            if !isLarge {
                try ArchiveTree.check(held)
                try sink(held)
            }
        } catch let error as ArchiveError {
            throw EntryFinding(error, information)
        }
        return information
    }
}

/// A fault of one entry.
struct EntryFinding: Error {
    /// `nil` if the damage leaves no readable key.
    let key: String?
    /// The entry's file, if it is known.
    let place: String?
    let reason: String
    /// Whether no program can ever read the entry; otherwise only this program cannot, or not now.
    let isDamaged: Bool
    /// The entry, if its bytes are those that were saved.
    var entry: EntryInformation?

    init(_ error: CacheError, key: String? = nil, entry: EntryInformation? = nil) {
        self.key = key
        place = error.path
        reason = (error.cause as? StoreError)?.reason ?? error.message
        isDamaged = error.code == .corrupted
        self.entry = entry
    }

    init(_ error: ArchiveError, _ entry: EntryInformation) {
        key = entry.key
        place = nil
        let offset = error.offset.map { ", at byte \($0)" } ?? ""
        reason = "no keyed archive: \(error.message)\(offset)"
        isDamaged = error.code == .corrupted || error.code == .unknownFormat
        self.entry = entry
    }

    /// For people, in one line.
    var prose: String {
        let key = key.map { "'\(EscapedText($0, limit: 200))'" }
        let place = place.map { EscapedText($0).description }
        let words = [key, place].compactMap(\.self).joined(separator: " at ")
        return "\(words.isEmpty ? "an entry" : words): \(EscapedText(reason, limit: 300))"
    }

    /// For programs.
    var json: Record {
        [
            "key": key.map(RecordValue.string) ?? .null,
            "place": place.map(RecordValue.string) ?? .null,
            "reason": .string(reason),
            "damaged": .bool(isDamaged),
        ]
    }
}
