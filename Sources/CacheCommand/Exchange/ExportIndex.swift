import Foundation

// The index of an export: a file of one JSON object per line. The first line names the format and its version:
//
//     {"format":"typed-cache export","version":2}
//
// and each other one stands for an entry:
//
//     file, key                           strings
//     storedAt                            a date, ISO 8601
//     expiresAt                           likewise; missing means never
//     idleTime                            seconds; missing means that reading moves nothing
//     staleWhileRevalidate, staleIfError  seconds; missing means none
//     loadTime                            seconds; missing means that it was not loaded
//     tags                                strings; missing means none
//
// A date that has no exact text, before the year 0000 say, is a number of seconds since 2001 in UTC; in version 1 every
// date is. Infinite times are the strings "Infinity" and "-Infinity". Other fields are ignored.
enum ExportIndex {
    static let fileName = "index.ndjson"
    static let header: Record = ["format": .string(format), "version": .int(version)]
    private static let format = "typed-cache export"
    private static let version: Int64 = 2

    /// Enough for the longest key, file name and tags, all of it escaped, and some more.
    static let limits = RecordLimits(bytes: 64 << 10, depth: 8, values: 4_096)

    /// Why an index cannot be read.
    enum Fault: Error, Sendable, Equatable {
        case file(FileFault)
        /// Its first line is not that of an index.
        case noHeader
        case unknownVersion

        /// To follow the index's path.
        var phrase: String {
            switch self {
            case .file(let fault): fault.phrase
            case .noHeader: "is no index that export wrote; remove it to import by the names of the files"
            case .unknownVersion: "was written by a later version of typed-cache; use that one"
            }
        }
    }

    static func line(_ record: Record) -> [UInt8] {
        Array((JSONWriter.text(.object(record), isIndented: false) + "\n").utf8)
    }

    static func check(header: Record) throws(Fault) {
        guard header["format"] == .string(format), case .int(let number)? = header["version"] else {
            throw .noHeader
        }
        guard (1...version).contains(number) else { throw .unknownVersion }
    }
}

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
