/// Reads the index of an export, a line at a time.
struct ExportIndexReader {
    private var source: NDJSONSource
    let byteCount: Int

    /// - Returns: `nil` if there is none.
    /// - Throws: `.unreadableIndex`; ``SourceError`` if the file cannot be read any further.
    init?(_ folder: ExchangeFolder, interruption: any Interruption) throws {
        let path = folder.path(of: ExportIndex.fileName)
        let descriptor: Int32
        do throws(FileFault) {
            (descriptor, byteCount) = try folder.openFile(ExportIndex.fileName)
        } catch {
            guard !folder.contains(ExportIndex.fileName) else {
                throw CommandFailure.unreadableIndex(path: path, .file(error))
            }
            return nil
        }
        let input = FileInput(descriptor, isOwned: true, interruption: interruption)
        source = NDJSONSource(ByteWindow(input), limits: ExportIndex.limits)
        guard case .record(let header, _)? = try source.next() else {
            throw CommandFailure.unreadableIndex(path: path, .noHeader)
        }
        do throws(ExportIndex.Fault) {
            try ExportIndex.check(header: header)
        } catch {
            throw CommandFailure.unreadableIndex(path: path, error)
        }
    }

    /// How many bytes the lines given so far take.
    var bytesConsumed: Int { source.bytesConsumed }

    /// The next entry, or why its line says none; `nil` at the end.
    mutating func next() throws(SourceError) -> (line: Int, Result<ExportedEntry, BadRecord>)? {
        switch try source.next() {
        case nil: return nil
        case .bad(let bad)?: return (bad.line, .failure(bad))
        case .record(let record, let line)?:
            do throws(RejectedRecord) {
                return (line, .success(try ExportedEntry(record)))
            } catch {
                return (line, .failure(BadRecord(line: line, reason: .rejected(error.reason))))
            }
        }
    }
}
