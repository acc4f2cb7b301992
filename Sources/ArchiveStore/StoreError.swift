import Foundation
import Sealing

/// A failure in a store: facts for the program, and a sentence for people.
///
/// Neither ever holds a key or an archive's bytes.
package struct StoreError: Error, Sendable {
    /// The kind of failure.
    package enum Code: String, CustomStringConvertible, Sendable {
        /// A system call failed; `errorNumber` says how.
        case io
        /// An entry's bytes have changed since the save.
        case corrupted
        /// A newer version of this format, whole as far as can be told; nothing was touched.
        case unsupportedVersion
        /// The files are encrypted and their key is not here, or the other way round; nothing was touched.
        case locked
        /// An archive is larger than the store's limit; nothing was touched.
        case tooLarge
        /// A directory is not a cache's own, or a link stands where a directory should; nothing was touched.
        case invalidDirectory
        /// A key that is not 1 to 1,024 UTF-8 bytes, or a date that is not a number; nothing was touched.
        case invalidArgument
        /// The store was closed.
        case closed
        /// The process was forked after the store was opened; nothing was touched.
        case forked
        /// A server did not answer, or could not do its work; it may have been done.
        case unreachable
        /// The task was cancelled while it waited for a server, which may have done its work.
        case cancelled
        /// A key of a server has a value that is not an entry of the cache; nothing was touched.
        case foreign

        package var description: String { rawValue }
    }

    package var code: Code { facts.code }
    /// The file or directory it is about; empty if it is about none.
    package var path: String { facts.path }
    /// The action that failed, such as "writing a draft".
    package var action: String { facts.action }
    /// Why it failed, in words.
    package var reason: String { facts.reason }
    /// The system's error number, for `.io` and some `.invalidDirectory`.
    package var errorNumber: Int32? { facts.errorNumber }

    // In an object: the results of many keys, nearly all of which are not errors, are copied without counting three references
    // each.
    private let shared: Shared
    private var facts: Facts { shared.facts }

    private final class Shared: Sendable {
        let facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    private struct Facts: Sendable {
        let code: Code
        let path: String
        let action: String
        let reason: String
        let errorNumber: Int32?
    }

    package init(_ code: Code, path: String = "", action: String, reason: String, errorNumber: Int32? = nil) {
        shared = Shared(Facts(code: code, path: path, action: action, reason: reason, errorNumber: errorNumber))
    }
}

extension StoreError {
    /// Whether a server may have made the change that it was asked for, and has not said so.
    package var isUnacknowledged: Bool { code == .unreachable || code == .cancelled }

    /// An archive, or an entry with all that belongs to it, is larger than a limit.
    ///
    /// - Parameter all: the limit of all entries, where `limit` is the part of it that one entry may have.
    package static func tooLarge(_ byteCount: Int, limit: Int, ofAll all: Int? = nil) -> StoreError {
        var (shown, shownLimit) = ("\(ShownByteCount(byteCount))", "\(ShownByteCount(limit))")
        if shown == shownLimit { (shown, shownLimit) = ("\(byteCount) bytes", "\(limit) bytes") }
        let bound =
            if let all, all != limit {
                "the \(shownLimit) that a limit of \(ShownByteCount(all)) leaves for one entry"
            } else {
                "the limit of \(shownLimit)"
            }
        return StoreError(.tooLarge, action: "saving an archive", reason: "\(shown) are more than \(bound)")
    }

    /// A limit of all entries leaves no room for any.
    static func noRoom(byteLimit: Int) -> StoreError {
        let reason = "a limit of \(ShownByteCount(byteLimit)) has no room for any entry; use a larger one"
        return StoreError(.tooLarge, action: "saving an archive", reason: reason)
    }

    /// A save would leave less of the volume free than the settings say, and no entry is left to evict for it.
    static func volumeKeptFree(_ byteCount: Int, path: String) -> StoreError {
        let reason = "the cache leaves \(ShownByteCount(byteCount)) of the volume free (minimumFreeSpace)"
        return StoreError(.io, path: path, action: "saving an archive", reason: reason, errorNumber: ENOSPC)
    }

    /// Files are encrypted and their key is not here, or the other way round.
    static func locked(_ path: String, _ reason: String) -> StoreError {
        StoreError(.locked, path: path, action: "opening a store", reason: reason)
    }

    /// A key was given for files that are not encrypted.
    static func notEncrypted(_ path: String) -> StoreError {
        .locked(path, "the cache is not encrypted, and a key was given for it")
    }

    /// No key was given for files that are encrypted.
    static func keyMissing(_ path: String) -> StoreError {
        let build = CipherAlgorithm.isAvailable ? "" : ", nor was this program built with the trait Encryption"
        return .locked(path, "the cache is encrypted, and no key was given for it\(build)")
    }

    /// Files are encrypted with a key that was not given.
    static func unknownKey(_ identifier: UInt64, path: String) -> StoreError {
        .locked(path, "the cache is encrypted with key \(identifier), which is not among those that were given")
    }

    /// No entry may be there at all.
    static var noEntries: StoreError {
        StoreError(.tooLarge, action: "saving an archive", reason: "the limit is no entries at all")
    }
}

/// A number of bytes for people: `62.9 MiB`; in bytes below one KiB.
struct ShownByteCount: CustomStringConvertible {
    let description: String

    init(_ byteCount: Int) {
        guard byteCount >= 1_024 else {
            description = "\(byteCount) bytes"
            return
        }
        // The cost that a user's code gives for a value may be any number: its tenths must not overflow.
        var tenths = min(byteCount, .max / 10)
        var unit = ""
        for next in ["KiB", "MiB", "GiB", "TiB"] where unit.isEmpty || tenths >= 10_240 {
            // Tenths of a unit from the first step on, rounded up: a number above a limit is never shown as the limit.
            let step = unit.isEmpty ? tenths * 10 : tenths
            tenths = step / 1_024 + (step % 1_024 == 0 ? 0 : 1)
            unit = next
        }
        description = tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        let place = path.isEmpty ? "" : " at \(path)"
        let number = errorNumber.map { " (errno \($0))" } ?? ""
        return "\(code) while \(action)\(place): \(reason)\(number)"
    }
}
