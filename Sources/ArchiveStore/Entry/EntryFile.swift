import Foundation

/// The file of one entry: its archive as a zlib stream, then its key, its attributes if it has any, and a footer.
///
///     0        Z              Z + K          Z + K + A                              Z + K + A + 48
///     | zlib … | key, UTF-8 … | attributes … | dates  lengths  version  checksum  magic |
///
/// The zlib stream comes first, so any zlib tool that ignores the bytes after it can inflate the file. Worked example,
/// the archive `hello` for the key `k`, stored at second 0.5 and kept for ever; `EntryFooter` names the footer's
/// fields:
///
///     00  48 0d cb 48 cd c9 c9 07 00 06 2c 02 15                          zlib stream, 13 bytes
///     0d  6b                                                              key
///     0e  3f e0 00 00 00 00 00 00  7f f0 00 00 00 00 00 00                stored at, expires at
///     1e  00 00 00 00 00 00 00 05  00 00 00 00 00 00 00 0d                archive length, zlib length
///     2e  00 00 00 01  00 00  00 01                                       key length, attributes' length, version
///     36  d8 ef b5 a3  54 43 41 45                                        checksum, magic
///
/// If any byte changes, the checksum or the magic shows it; if the length changes, the last bytes show it.
package struct EntryFile {
    let footer: EntryFooter
    /// Dates, times and tags.
    package let attributes: EntryAttributes
    /// The file's last bytes, at least key and footer; all of them, if its archive is wanted.
    private let bytes: [UInt8]

    /// What is readable of a file that was encrypted.
    struct Seal {
        /// Tells this save from every other one.
        let save: UInt64
        /// The identifier of the key.
        let key: UInt64
    }
    /// `nil`: the file is not encrypted.
    let seal: Seal?

    /// The file's length.
    var storedByteCount: Int { footer.fileByteCount + (seal == nil ? 0 : SealedEntry.overhead) }

    /// Whether bytes that were found where an entry should be, or the last ones of them, end as an entry's do.
    package static func isEntry(_ tail: [UInt8]) -> Bool { EntryFooter.ends(tail) }

    /// How long the archive is before compression.
    package var archiveByteCount: Int { footer.archiveByteCount }

    /// Takes all bytes of a file, after checking all of them.
    package init(verifying bytes: [UInt8]) throws(EntryFault) {
        footer = try EntryFooter(bytes, fileByteCount: bytes.count, checksum: Self.checksum(bytes))
        attributes = try Self.attributes(footer, bytes)
        self.bytes = bytes
        seal = nil
    }

    /// The CRC-32 that all bytes of a file should have at their end.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes {
            Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(EntryFooter.sealByteCount)))
        }
    }

    /// Takes the last bytes of a file, and the checksum that was calculated elsewhere; `nil`: the file's is not
    /// checked.
    package init(tail: [UInt8], fileByteCount: Int, checksum: UInt32?) throws(EntryFault) {
        try self.init(tail: tail, fileByteCount: fileByteCount, checksum: checksum, seal: nil)
    }

    /// As above.
    ///
    /// - Parameter seal: that of the file, if these are bytes that were decrypted.
    init(tail: [UInt8], fileByteCount: Int, checksum: UInt32?, seal: Seal?) throws(EntryFault) {
        self.seal = seal
        footer = try EntryFooter(tail, fileByteCount: fileByteCount, checksum: checksum)
        guard footer.keyByteCount + footer.attributesByteCount + EntryFooter.byteCount <= tail.count else {
            throw .damaged("the lengths do not add up")
        }
        attributes = try Self.attributes(footer, tail)
        bytes = tail
    }

    private var keyBytes: ArraySlice<UInt8> {
        let end = bytes.count - EntryFooter.byteCount - footer.attributesByteCount
        return bytes[(end - footer.keyByteCount)..<end]
    }

    private static func attributes(_ footer: EntryFooter, _ bytes: [UInt8]) throws(EntryFault) -> EntryAttributes {
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: footer.storedAt))
        if footer.expiresAt != .infinity {
            attributes.expiresAt = Date(timeIntervalSinceReferenceDate: footer.expiresAt)
        }
        if footer.attributesByteCount > 0 {
            let end = bytes.count - EntryFooter.byteCount
            guard footer.attributesByteCount <= end else { throw .damaged("the lengths do not add up") }
            try attributes.decode(bytes[(end - footer.attributesByteCount)..<end])
        }
        return attributes
    }

    /// Whether this is the entry of `key`.
    package func holds(_ key: StoreKey) -> Bool {
        key.bytes.count == footer.keyByteCount && keyBytes.elementsEqual(key.bytes)
    }

    /// The key.
    package func key() throws(EntryFault) -> StoreKey {
        guard let string = String(validating: keyBytes, as: UTF8.self) else {
            throw .damaged("the key is not UTF-8")
        }
        do {
            return try StoreKey(string)
        } catch {
            throw .damaged(error.reason)
        }
    }

    /// All bytes of the file, before it was encrypted.
    ///
    /// - Precondition: this was made from all of them.
    var plainBytes: [UInt8] { bytes }

    /// How many bytes come after the zlib stream.
    var headByteCount: Int { footer.fileByteCount - footer.zlibByteCount }

    /// The archive's zlib stream.
    ///
    /// - Precondition: this was made from all of the file's bytes.
    var stream: ArraySlice<UInt8> { bytes[..<footer.zlibByteCount] }

    /// Inflates the archive.
    ///
    /// - Precondition: this was made from all of the file's bytes.
    package func archive(limit: Int) throws(EntryFault) -> [UInt8] {
        do {
            return try Zlib.inflate(
                prefix: footer.zlibByteCount,
                of: bytes,
                expecting: footer.archiveByteCount,
                limit: limit
            )
        } catch {
            throw fault(error)
        }
    }

    /// Inflates the archive in pieces: see ``ArchiveStore/peek(forKey:pieces:)``.
    ///
    /// - Precondition: this was made from all of the file's bytes.
    func inflate(limit: Int, pieces body: ([UInt8]) -> Bool) throws(EntryFault) {
        do {
            try Zlib.inflate(
                from: 0,
                count: footer.zlibByteCount,
                of: bytes,
                expecting: footer.archiveByteCount,
                limit: limit,
                pieces: body
            )
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ error: InflateError) -> EntryFault {
        switch error {
        case .damaged: .damaged("the zlib stream is not whole")
        case .impossibleLength: .damaged("the archive's length is impossible")
        case .tooLarge: .tooLarge(byteCount: UInt64(footer.archiveByteCount))
        }
    }

    /// The entry's information, for people and policies.
    package func information(key: String, identity: EntryIdentity) -> EntryInformation {
        EntryInformation(
            key: key,
            attributes: attributes,
            archiveByteCount: footer.archiveByteCount,
            storedByteCount: storedByteCount,
            identity: EntryIdentity(attributes) ?? identity
        )
    }

    /// The most bytes that the file of an archive of `archiveByteCount` bytes takes.
    package static func largestByteCount(forArchiveOf archiveByteCount: Int) -> Int {
        StoredBlocks.byteCount(for: archiveByteCount) + largestTailByteCount
    }

    /// The most bytes that come after an archive.
    package static let largestTailByteCount =
        StoreKey.largestByteCount + EntryAttributes.largestByteCount + EntryFooter.byteCount

    /// All bytes of the file, compressed and sealed.
    ///
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func content(
        archive: [UInt8],
        key: StoreKey,
        attributes: EntryAttributes,
        compression: ArchiveCompression = .automatic
    ) throws(StoreError) -> FileContent {
        let runs = archive.withUnsafeBytes { compression.runs(of: $0) }
        if archive.count >= UncopiedStream.leastArchive, !runs.contains(where: \.shrinks) {
            let stream = UncopiedStream(archive)
            let end = try bytes(after: stream, archiveByteCount: archive.count, key: key, attributes: attributes)
            return FileContent(stream, end: end)
        }
        return FileContent(
            try bytes(
                archiveByteCount: archive.count,
                streamBound: StoredBlocks.byteCount(for: archive.count),
                key: key,
                attributes: attributes
            ) { output in
                archive.withUnsafeBytes { Zlib.deflate($0, in: runs, by: compression, into: output) }
            }
        )
    }

    /// As ``content(archive:key:attributes:compression:)``, in one piece.
    package static func bytes(
        archive: [UInt8],
        key: StoreKey,
        attributes: EntryAttributes,
        compression: ArchiveCompression
    ) throws(StoreError) -> [UInt8] {
        try content(archive: archive, key: key, attributes: attributes, compression: compression).joined
    }

    /// All bytes of the file, sealed and allocated in one go; or all after a stream.
    ///
    /// - Parameters:
    ///   - former: comes before them; `nil`: `stream` writes it.
    ///   - streamBound: the most bytes that `stream` writes.
    ///   - stream: writes a zlib stream of the archive, and returns its length.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func bytes(
        after former: UncopiedStream? = nil,
        archiveByteCount: Int,
        streamBound: Int = 0,
        key: StoreKey,
        attributes: EntryAttributes,
        stream: (UnsafeMutableRawBufferPointer) -> Int = { _ in 0 }
    ) throws(StoreError) -> [UInt8] {
        let encoded = try attributes.encoded()
        let bound = streamBound + key.bytes.count + encoded.count + EntryFooter.byteCount
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            let zlib = stream(output)
            UnsafeMutableRawBufferPointer(rebasing: output[zlib...]).copyBytes(from: key.bytes)
            UnsafeMutableRawBufferPointer(rebasing: output[(zlib + key.bytes.count)...]).copyBytes(from: encoded)
            let footer = zlib + key.bytes.count + encoded.count
            EntryFooter.write(
                storedAt: attributes.storedAt.timeIntervalSinceReferenceDate,
                expiresAt: attributes.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity,
                archiveByteCount: archiveByteCount,
                zlibByteCount: former?.byteCount ?? zlib,
                keyByteCount: key.bytes.count,
                attributesByteCount: encoded.count,
                to: UnsafeMutableRawBufferPointer(rebasing: output[footer...])
            )
            count = footer + EntryFooter.byteCount
            seal(UnsafeMutableRawBufferPointer(rebasing: output[..<count]), continuing: former?.checksum ?? 0)
        }
    }

    /// The same entry with another end of its freshness.
    ///
    /// - Precondition: this was made from all of the file's bytes; `expiresAt` is not a NaN.
    func bytes(expiresAt: Double) -> [UInt8] {
        var bytes = bytes
        bytes.withUnsafeMutableBytes { output in
            let footer = output.count - EntryFooter.byteCount
            EntryFooter.write(
                expiresAt: expiresAt,
                to: UnsafeMutableRawBufferPointer(rebasing: output[footer...])
            )
            Self.seal(output)
        }
        return bytes
    }

    /// Writes the last eight bytes of a file.
    ///
    /// - Parameter checksum: the CRC-32 of the bytes that come before `file`.
    static func seal(_ file: UnsafeMutableRawBufferPointer, continuing checksum: UInt32 = 0) {
        let seal = file.count - EntryFooter.sealByteCount
        EntryFooter.writeSeal(
            Zlib.crc32(UnsafeRawBufferPointer(rebasing: file[..<seal]), continuing: checksum),
            to: UnsafeMutableRawBufferPointer(rebasing: file[seal...])
        )
    }
}
