import Foundation

/// Reads the files of a shard as entries.
struct SlotReader {
    let directory: Directory
    /// The shard's path, for errors.
    let path: String
    /// The largest archive, in bytes.
    let limit: Int
    /// `nil`: the entries are not encrypted.
    let sealing: EntrySealing?

    /// Files up to this long are read in one go.
    private static let chunk = 65536

    /// The content of a slot's file.
    ///
    /// A link, a pipe or anything else that is not a regular file is a damaged entry; it is neither followed nor read.
    func content(
        _ name: EntryName,
        slot: Int,
        _ extent: SlotContent.Extent
    ) throws(StoreError) -> SlotContent {
        let fileName = name.fileName(slot: slot)
        do {
            let file = try directory.file(fileName)
            let status = try file.status()
            guard status.isRegular else { return .fault(.damaged("it is not a regular file")) }
            if let sealing { return try content(of: file, status, extent, name: name, sealing: sealing) }
            return try content(of: file, status, extent)
        } catch {
            if error.isMissing { return .absent }
            if error.isSymbolicLink { return .fault(.damaged("it is a symbolic link")) }
            if error.isNotRegular { return .fault(.damaged("it is not a regular file")) }
            throw StoreError(error, path: path + "/" + fileName, action: "reading an entry")
        }
    }

    private func content(
        of file: borrowing OpenFile,
        _ status: FileStatus,
        _ extent: SlotContent.Extent
    ) throws(SystemError) -> SlotContent {
        let byteCount = status.byteCount
        let isTooLarge = byteCount > EntryFile.largestByteCount(forArchiveOf: limit)
        if !isTooLarge, extent == .archive || (extent == .information && byteCount <= Self.chunk) {
            let bytes = try file.read(byteCount, at: 0)
            return SlotContent(status) { () throws(EntryFault) in try EntryFile(verifying: bytes) }
        }

        let tailCount = min(byteCount, EntryFile.largestTailByteCount)
        let tail = try file.read(tailCount, at: byteCount - tailCount)
        var checksum: UInt32?
        if !isTooLarge, extent == .information {
            checksum = try self.checksum(of: file, byteCount: byteCount - EntryFooter.sealByteCount)
        }
        return SlotContent(status) { () throws(EntryFault) in
            let entry = try EntryFile(tail: tail, fileByteCount: byteCount, checksum: checksum)
            if isTooLarge, extent != .tail { throw .tooLarge(byteCount: UInt64(byteCount)) }
            return entry
        }
    }

    /// The content of an encrypted entry. All of it is read and decrypted unless the head is enough: only then is it known to
    /// be what was saved.
    private func content(
        of file: borrowing OpenFile,
        _ status: FileStatus,
        _ extent: SlotContent.Extent,
        name: EntryName,
        sealing: EntrySealing
    ) throws(SystemError) -> SlotContent {
        let byteCount = status.byteCount
        let isTooLarge = byteCount > EntryFile.largestByteCount(forArchiveOf: limit) + SealedEntry.overhead
        if !isTooLarge, extent != .tail {
            let bytes = try file.read(byteCount, at: 0)
            return SlotContent(status) { () throws(EntryFault) in try sealing.entry(bytes, name) }
        }
        let tailCount = min(byteCount, SealedEntry.largestTailByteCount)
        let tail = try file.read(tailCount, at: byteCount - tailCount)
        return SlotContent(status) { () throws(EntryFault) in
            let entry = try sealing.entry(tail: tail, fileByteCount: byteCount, name)
            if extent != .tail { throw .tooLarge(byteCount: UInt64(byteCount)) }
            return entry
        }
    }

    /// The CRC-32 of the first `byteCount` bytes, read a chunk at a time.
    private func checksum(of file: borrowing OpenFile, byteCount: Int) throws(SystemError) -> UInt32 {
        var checksum: UInt32 = 0
        var offset = 0
        while offset < byteCount {
            let bytes = try file.read(min(Self.chunk, byteCount - offset), at: offset)
            // The file is shorter than it was: so its checksum will not match the one in its footer.
            if bytes.isEmpty { break }
            checksum = bytes.withUnsafeBytes { Zlib.crc32($0, continuing: checksum) }
            offset += bytes.count
        }
        return checksum
    }
}
