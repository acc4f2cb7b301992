import CFiles
import Foundation
import TypedCache

/// Where the keys of an encrypted cache are: lines of a number, a colon and 64 hexadecimal digits, the key for new entries
/// first.
enum KeyPlace: Sendable, Equatable {
    /// A file, which may be a descriptor: `/dev/fd/3`.
    case file(String)
    /// A variable of the environment.
    case variable(String)

    /// Why there are no keys.
    enum Fault: Error, Sendable, Equatable {
        case unreadable(errno: Int32)
        case missingVariable
        /// The line, from 1.
        case noKey(line: Int)
        case empty
    }

    /// The most bytes that are read.
    private static let mostBytes = 1 << 16

    /// Reads the keys, and has the system write no core dump of this process from then on.
    func encryption() throws(CommandFailure) -> DiskSettings.Encryption {
        refuse_core_dumps()
        var bytes: [UInt8]
        do throws(Fault) {
            bytes = try content()
        } catch {
            throw .unusableKeys(self, error)
        }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        do throws(Fault) {
            let keys = try Self.keys(bytes)
            guard let current = keys.first else { throw .empty }
            let others = Array(keys.dropFirst())
            return .keys { (current: current, others: others) }
        } catch {
            throw .unusableKeys(self, error)
        }
    }

    private func content() throws(Fault) -> [UInt8] {
        switch self {
        case .variable(let name):
            guard let value = ProcessInfo.processInfo.environment[name] else { throw .missingVariable }
            return Array(value.utf8)
        case .file(let path):
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .unreadable(errno: errno) }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
            var count = 0
            while count < bytes.count {
                let result = bytes.withUnsafeMutableBytes { bytes in
                    read(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count)
                }
                if result == 0 { break }
                guard result > 0 else {
                    if errno == EINTR { continue }
                    throw .unreadable(errno: errno)
                }
                count += result
            }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
    }

    /// The keys of some lines. Reads bytes, since a string would stay in memory.
    static func keys(_ bytes: [UInt8]) throws(Fault) -> [EncryptionKey] {
        var keys: [EncryptionKey] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            guard let key = key(line) else { throw .noKey(line: index + 1) }
            keys.append(key)
        }
        return keys
    }

    private static func key(_ line: ArraySlice<UInt8>) -> EncryptionKey? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let identifier = UInt64(String(decoding: line[..<colon], as: UTF8.self))
        else { return nil }
        let digits = line[(colon + 1)...].compactMap { digit($0) }
        guard digits.count == 2 * EncryptionKey.byteCount, digits.count == line.endIndex - colon - 1 else {
            return nil
        }
        var bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return EncryptionKey(identifier: identifier, bytes: bytes)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
