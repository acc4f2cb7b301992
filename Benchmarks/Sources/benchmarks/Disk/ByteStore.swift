import Foundation

/// A store on disk that keeps bytes under keys.
protocol ByteStore: AnyObject {
    func save(_ bytes: [UInt8], forKey key: String) throws
    /// - Returns: `nil` if there is no entry for `key`.
    func fetch(forKey key: String) throws -> [UInt8]?
    func remove(forKey key: String) throws
    /// Runs `body` as one transaction, if the store has them, since that is faster.
    func together(_ body: () throws -> Void) throws
}

extension ByteStore {
    func together(_ body: () throws -> Void) throws { try body() }
}

/// One file per key, by system calls: drafts that are renamed into place, without checksums and locks.
final class HandFileStore: ByteStore {
    private let folder: String
    private let draft: String

    /// - Parameter folder: a folder that is there.
    init(_ folder: URL) {
        self.folder = folder.path
        draft = "\(folder.path)/.draft"
    }

    func save(_ bytes: [UInt8], forKey key: String) throws {
        try Self.write(bytes, to: "\(folder)/\(key)", draft: draft)
    }

    func fetch(forKey key: String) throws -> [UInt8]? {
        let descriptor = open("\(folder)/\(key)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("looking at a file") }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, size))
        }
        guard bytes.count == size else { throw Self.failure("reading a file") }
        return bytes
    }

    func remove(forKey key: String) throws {
        guard unlink("\(folder)/\(key)") == 0 else { throw Self.failure("removing a file") }
    }

    /// Writes a file as a careful program does: a draft, renamed into place.
    static func write(_ bytes: [UInt8], to path: String, draft: String) throws {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("creating a draft") }
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard close(descriptor) == 0, written == bytes.count else { throw failure("writing a draft") }
        guard rename(draft, path) == 0 else { throw failure("renaming a draft") }
    }

    private static func failure(_ action: String) -> BenchmarkError {
        BenchmarkError("\(action): \(String(cString: strerror(errno)))")
    }
}
