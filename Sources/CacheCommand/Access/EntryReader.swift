import ArchiveStore
import KeyedArchive
import TypedCache

/// Reads entries whole, and sees whether their archives are keyed archives.
struct EntryReader: Sendable {
    let cache: any CacheAccess

    /// The largest archive, in bytes, that is held while the entries of a part are listed.
    static let mostBytesAtHand = 1 << 20

    /// The largest archive, in bytes, that is held whole and parsed. Larger ones only pass through, so that no entry
    /// takes more memory than it takes on disk: import parses them.
    static let largestParsed = 16 << 20

    /// Sees whether an archive that came with its entry is a keyed archive.
    ///
    /// - Throws: ``EntryFinding``.
    static func check(_ archive: [UInt8], of entry: EntryInformation) throws(EntryFinding) {
        do throws(ArchiveError) {
            try ArchiveTree.check(beginning: archive[...])
            try ArchiveTree.check(archive)
        } catch {
            throw EntryFinding(error, entry)
        }
    }

    /// Reads all of an entry that was listed, and sees whether it is a keyed archive.
    ///
    /// - Parameters:
    ///   - stored: the entry as it was read together with others, if it was.
    ///   - sink: is given the archive's bytes in their order; of one that is damaged, it may have been given the
    ///     beginning.
    /// - Returns: `nil` if the entry is gone.
    /// - Throws: ``EntryFinding``, and the errors of `sink`.
    func read(
        _ listed: Result<EntryInformation, CacheError>,
        as stored: Result<StoredArchive?, CacheError>? = nil,
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
                if held.isEmpty { try ArchiveTree.check(beginning: piece[...]) }
                held += piece
            }
        }
        let information: EntryInformation?
        do throws(CacheError) {
            func takePiece(_ piece: [UInt8]) -> Bool {
                do {
                    try take(piece)
                } catch {
                    failure = error
                }
                return failure == nil
            }
            if let stored = try stored?.get() {
                _ = takePiece(stored.archive)
                information = stored.information
            } else {
                information = stored == nil ? try cache.peek(entry.key, pieces: takePiece) : nil
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
