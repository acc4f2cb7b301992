import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// Runs `get`.
struct GetCommand {
    let options: KeyOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(options.cache)
        let date = environment.date()
        var keys = try KeySource(options.keys, environment)
        var status = ExitStatus.success
        while let key = try keys.next() {
            do {
                let value = try value(of: key.get(), in: cache, at: date)
                try JSONWriter.write(value, isIndented: !options.writesJSON, to: environment.output)
            } catch let bad as BadRecord {
                environment.errors.report(BadRecordMessage(bad))
                status = .failure
            } catch let failure as CommandFailure {
                environment.errors.report(CommandFailureMessage(failure))
                status = .failure
            }
        }
        return status
    }

    private func value(of key: String, in cache: any CacheAccess, at date: Date) throws -> RecordValue {
        let tree = try cache.tree(of: key, at: date)
        var reader = ArchiveRecord(tree)
        let value: RecordValue
        do throws(ArchiveRecord.Entangled) {
            value = try reader.value()
        } catch {
            throw CommandFailure.entangled(key: key, options.cache)
        }
        guard case .object(let stored) = value, let entry = ModelEntry(tree) else { return value }
        return .object(entry.inWords(stored))
    }
}

extension CacheAccess {
    /// The archive of an entry that has not expired, opened. Takes the archive's memory once.
    ///
    /// - Throws: `.noEntry`, `.unreadableEntry`, `.unsoundEntry`.
    func tree(of key: String, at date: Date) throws(CommandFailure) -> ArchiveTree {
        var archive = Data()
        let entry: EntryInformation?
        do throws(CacheError) {
            entry = try peek(key) { piece in
                archive.append(contentsOf: piece)
                return true
            }
        } catch {
            throw .unreadableEntry(key: key, error)
        }
        guard let entry, !entry.isExpired(at: date) else { throw .noEntry(key: key) }
        do throws(ArchiveError) {
            return try ArchiveTree(sharing: archive)
        } catch {
            throw .unsoundEntry(key: key, error)
        }
    }
}
