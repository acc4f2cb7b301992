import Sealing

/// The file of an encrypted entry.
///
///     0        Z     Z + 16           Z + 16 + H   Z + 32 + H
///     | zlib … | tag | key, attributes, footer … | tag | seal, 46 bytes |
///
/// These are the bytes of an ``EntryFile``, encrypted in two pieces, the zlib stream and the H bytes after it, each with
/// its tag. The seal is readable, by its offset from the file's end:
///
///     -46 16  salt         random, of this file
///     -30  8  save         UInt64, random; the same for as long as the entry is
///     -22  8  key          UInt64, its identifier
///     -14  1  cipher       1 AES-256-GCM, 2 ChaCha20-Poly1305
///     -13  1  –            zero
///     -12  2  head length  UInt16, H
///     -10  2  version      UInt16, 3
///      -8  4  checksum     CRC-32 of every byte of the file before it
///      -4  4  magic        54 43 41 45, "TCAE"
///
/// The head's tag vouches for the seal up to the version, that of the zlib stream for the head's. The file has a key of its
/// own, see ``EntrySealing``, so the nonces are the numbers 0, of the head, and 1.
///
/// Unsafe code, and why it is sound: parts are taken at lengths that were checked against the number of bytes.
struct SealedEntry {
    static let sealByteCount = 46
    private static let tagByteCount = SealedPiece.overhead
    /// By how many bytes the file is longer than that of an entry that is not encrypted.
    static let overhead = sealByteCount + 2 * tagByteCount
    /// The most bytes after a zlib stream and its tag.
    static let largestTailByteCount = EntryFile.largestTailByteCount + tagByteCount + sealByteCount
    static let saltByteCount = 16

    /// The readable part.
    struct Seal {
        var salt: [UInt8]
        /// Tells this save from every other one.
        var save: UInt64
        /// The identifier of the key.
        var key: UInt64
        var algorithm: CipherAlgorithm
        var headByteCount: Int

        /// All but checksum and magic.
        var bytes: [UInt8] {
            var bytes = salt
            bytes.append(bigEndian: save)
            bytes.append(bigEndian: key)
            bytes.append(algorithm.rawValue)
            bytes.append(0)
            bytes.append(bigEndian: UInt16(headByteCount))
            bytes.append(bigEndian: UInt16(EntryFooter.sealedVersion))
            return bytes
        }

        init(salt: [UInt8], save: UInt64, key: UInt64, headByteCount: Int) {
            self.salt = salt
            self.save = save
            self.key = key
            algorithm = .preferred
            self.headByteCount = headByteCount
        }

        /// Reads the last bytes of a file.
        ///
        /// - Parameter checksum: of the bytes before the file's; `nil`: it is not checked.
        init(_ tail: [UInt8], fileByteCount: Int, checksum: UInt32?) throws(EntryFault) {
            let version = try EntryFooter.version(endOf: tail, checksum: checksum)
            guard version == EntryFooter.sealedVersion else {
                throw version > EntryFooter.sealedVersion
                    ? .unsupportedVersion(version) : .damaged("it is not encrypted")
            }
            guard tail.count >= sealByteCount else { throw .damaged("the file is shorter than a seal") }
            let fields = ByteReader(tail.suffix(sealByteCount))
            salt = Array(tail.suffix(sealByteCount).prefix(saltByteCount))
            save = fields.number(at: 16)
            key = fields.number(at: 24)
            guard let algorithm = CipherAlgorithm(rawValue: fields.number(at: 32)) else {
                throw .damaged("the cipher is unknown")
            }
            self.algorithm = algorithm
            headByteCount = Int(fields.number(at: 34, as: UInt16.self))
            guard (EntryFooter.byteCount...EntryFile.largestTailByteCount).contains(headByteCount),
                headByteCount + overhead <= fileByteCount,
                headByteCount + tagByteCount + sealByteCount <= tail.count
            else { throw .damaged("the lengths do not add up") }
        }
    }

    // MARK: Writing

    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - plain: those of an ``EntryFile``.
    ///   - seal: says how many of them are the head.
    static func bytes(_ plain: [UInt8], _ seal: Seal, by cipher: AuthenticatedCipher) -> [UInt8] {
        let zlibByteCount = plain.count - seal.headByteCount
        let fixed = seal.bytes
        return [UInt8](unsafeUninitializedCapacity: plain.count + overhead) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            let pieces = Pieces(output, headByteCount: seal.headByteCount)
            plain.withUnsafeBytes { plain in
                pieces.stream.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[..<zlibByteCount]))
                pieces.head.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[zlibByteCount...]))
            }
            pieces.fixed.copyBytes(from: fixed)
            Nonce(part: 0).withUnsafeBytes { nonce in
                cipher.seal(
                    pieces.head,
                    nonce: nonce,
                    authenticating: UnsafeRawBufferPointer(pieces.fixed),
                    tag: pieces.headTag
                )
            }
            Nonce(part: 1).withUnsafeBytes { nonce in
                cipher.seal(
                    pieces.stream,
                    nonce: nonce,
                    authenticating: UnsafeRawBufferPointer(pieces.headTag),
                    tag: pieces.streamTag
                )
            }
            EntryFile.seal(output)
            count = output.count
        }
    }

    // MARK: Reading

    /// The bytes of the ``EntryFile``; `nil` if they are not those that were sealed.
    static func open(_ file: [UInt8], _ seal: Seal, by cipher: AuthenticatedCipher) -> [UInt8]? {
        var bytes = file
        let isOpen = bytes.withUnsafeMutableBytes { bytes in
            let pieces = Pieces(bytes, headByteCount: seal.headByteCount)
            let isOpen =
                Nonce(part: 1).withUnsafeBytes { nonce in
                    cipher.open(
                        pieces.stream,
                        nonce: nonce,
                        authenticating: UnsafeRawBufferPointer(pieces.headTag),
                        tag: UnsafeRawBufferPointer(pieces.streamTag)
                    )
                } && openHead(pieces, by: cipher)
            guard isOpen, let target = pieces.streamTag.baseAddress, let head = pieces.head.baseAddress else {
                return false
            }
            // Right after the stream, where it is in a file that is not encrypted.
            target.copyMemory(from: head, byteCount: pieces.head.count)
            return true
        }
        guard isOpen else { return nil }
        bytes.removeLast(overhead)
        return bytes
    }

    /// The head alone, from the last bytes of the file; `nil` if it is not the one that was sealed.
    static func openHead(_ tail: [UInt8], _ seal: Seal, by cipher: AuthenticatedCipher) -> [UInt8]? {
        var head = Array(tail.suffix(seal.headByteCount + tagByteCount + sealByteCount))
        let isOpen = head.withUnsafeMutableBytes {
            openHead(Pieces($0, headByteCount: seal.headByteCount), by: cipher)
        }
        guard isOpen else { return nil }
        head.removeLast(tagByteCount + sealByteCount)
        return head
    }

    private static func openHead(_ pieces: Pieces, by cipher: AuthenticatedCipher) -> Bool {
        Nonce(part: 0).withUnsafeBytes { nonce in
            cipher.open(
                pieces.head,
                nonce: nonce,
                authenticating: UnsafeRawBufferPointer(pieces.fixed),
                tag: UnsafeRawBufferPointer(pieces.headTag)
            )
        }
    }

    /// The parts of a file, or of its end: without a stream then.
    private struct Pieces {
        let stream: UnsafeMutableRawBufferPointer
        let streamTag: UnsafeMutableRawBufferPointer
        let head: UnsafeMutableRawBufferPointer
        let headTag: UnsafeMutableRawBufferPointer
        /// The seal up to the version.
        let fixed: UnsafeMutableRawBufferPointer

        init(_ file: UnsafeMutableRawBufferPointer, headByteCount: Int) {
            let seal = file.count - sealByteCount
            let headEnd = seal - tagByteCount
            let headStart = headEnd - headByteCount
            let streamEnd = max(0, headStart - tagByteCount)
            stream = UnsafeMutableRawBufferPointer(rebasing: file[..<streamEnd])
            streamTag = UnsafeMutableRawBufferPointer(rebasing: file[streamEnd..<headStart])
            head = UnsafeMutableRawBufferPointer(rebasing: file[headStart..<headEnd])
            headTag = UnsafeMutableRawBufferPointer(rebasing: file[headEnd..<seal])
            fixed = UnsafeMutableRawBufferPointer(
                rebasing: file[seal..<file.count - EntryFooter.sealByteCount]
            )
        }
    }
}
