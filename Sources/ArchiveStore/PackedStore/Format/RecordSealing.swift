import Sealing

/// How the records of a segment stand in its file.
struct RecordForm: Sendable {
    /// The log's, with which the checksums of heads begin.
    var seed: UInt32
    /// Encrypts and decrypts them; `nil`: they are not encrypted.
    var sealing: RecordSealing?
}

/// Encrypts and decrypts the records of one segment, each in place.
///
///      0  2  magic     F5 32
///      2 12  nonce     random; the last bit is 0
///     14  2  length    UInt16, H
///     16  H  head      a record's bytes from its kind to its payload, encrypted
///        16  tag       of the head, and of the record's place (UInt32 segment, UInt32 offset)
///         P  payload   encrypted with the same nonce, but for the last bit; only of an entry, as the tag
///        16  tag       of the payload, and of the head's tag
///
/// The key is the segment's: see ``LogIdentity``. So a record at another place, in another segment or of another log does
/// not open, nor does a payload under another head.
///
/// Unsafe code, and why it is sound: parts are taken at lengths that were checked against the number of bytes.
struct RecordSealing: Sendable {
    static let nonceOffset = 2
    static let lengthOffset = 14
    /// The bytes before the head's kind.
    static let startByteCount = 16
    static let tagByteCount = AuthenticatedCipher.tagByteCount
    /// By how many bytes a record is longer than one that is not encrypted.
    static let largestOverhead = startByteCount - RecordHead.kindOffset + 2 * tagByteCount

    /// One; several for a segment whose header is damaged, so that its key is not known; none if it cannot be any.
    private let ciphers: [AuthenticatedCipher]

    init(_ ciphers: [AuthenticatedCipher]) { self.ciphers = ciphers }

    /// Whether records can be written: not in a segment whose log is unknown.
    var canSeal: Bool { !ciphers.isEmpty }

    // MARK: Sealing

    /// Encrypts a record.
    ///
    /// - Parameters:
    ///   - record: all of its bytes: those before the head and the tags get their content here.
    ///   - headByteCount: the bytes before its payload.
    func seal(
        _ record: UnsafeMutableRawBufferPointer,
        headByteCount: Int,
        at place: RecordPlace,
        _ nonce: Nonce
    ) {
        guard let cipher = ciphers.first else { preconditionFailure("a segment is written with its key") }
        let tagStart = headByteCount - Self.tagByteCount
        nonce.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(rebasing: record[Self.nonceOffset..<Self.lengthOffset]).copyMemory(
                from: $0
            )
        }
        ByteWriter(record).store(UInt16(tagStart - Self.startByteCount), at: Self.lengthOffset)
        let head = UnsafeMutableRawBufferPointer(rebasing: record[Self.startByteCount..<tagStart])
        let tag = UnsafeMutableRawBufferPointer(rebasing: record[tagStart..<headByteCount])
        nonce.withUnsafeBytes { nonce in
            Swift.withUnsafeBytes(of: place.serial.bigEndian) {
                cipher.seal(head, nonce: nonce, authenticating: $0, tag: tag)
            }
        }
        guard record.count > headByteCount else { return }
        let end = record.count - Self.tagByteCount
        let payload = UnsafeMutableRawBufferPointer(rebasing: record[headByteCount..<end])
        let last = UnsafeMutableRawBufferPointer(rebasing: record[end...])
        nonce.forPayload.withUnsafeBytes { nonce in
            cipher.seal(payload, nonce: nonce, authenticating: UnsafeRawBufferPointer(tag), tag: last)
        }
    }

    /// Decrypts a record that ``seal(_:headByteCount:at:_:)`` has encrypted.
    func unseal(_ record: UnsafeMutableRawBufferPointer, headByteCount: Int, at place: RecordPlace) {
        let tagStart = headByteCount - Self.tagByteCount
        let isOpen =
            record.count == headByteCount
            || openPayload(of: record, headByteCount: headByteCount)
        let head = UnsafeMutableRawBufferPointer(rebasing: record[Self.startByteCount..<tagStart])
        guard isOpen, openHead(of: UnsafeRawBufferPointer(record), at: place, into: head) else {
            preconditionFailure("a record does not open that was sealed just now")
        }
    }

    // MARK: Opening

    /// Decrypts the head of a record; false if it is not the one that was written there.
    ///
    /// - Parameters:
    ///   - bytes: the record's, at least all of the head and its tag.
    ///   - head: room for the head; it may be where that lies.
    func openHead(
        of bytes: UnsafeRawBufferPointer,
        at place: RecordPlace,
        into head: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let end = Self.startByteCount + head.count
        let sealed = UnsafeRawBufferPointer(rebasing: bytes[Self.startByteCount..<end])
        let tag = UnsafeRawBufferPointer(rebasing: bytes[end..<end + Self.tagByteCount])
        let nonce = UnsafeRawBufferPointer(rebasing: bytes[Self.nonceOffset..<Self.lengthOffset])
        return ciphers.contains { cipher in
            if head.baseAddress.map({ UnsafeRawPointer($0) }) != sealed.baseAddress {
                head.copyMemory(from: sealed)
            }
            return withUnsafeBytes(of: place.serial.bigEndian) {
                cipher.open(head, nonce: nonce, authenticating: $0, tag: tag)
            }
        }
    }

    /// Decrypts the payload of a record in place; false, and the payload zeros, if it is not the one that was written.
    ///
    /// - Parameter record: all of its bytes.
    func openPayload(of record: UnsafeMutableRawBufferPointer, headByteCount: Int) -> Bool {
        let end = record.count - Self.tagByteCount
        guard headByteCount <= end, headByteCount >= Self.startByteCount + Self.tagByteCount else { return false }
        let payload = UnsafeMutableRawBufferPointer(rebasing: record[headByteCount..<end])
        let tag = UnsafeRawBufferPointer(rebasing: record[end...])
        let headTag = UnsafeRawBufferPointer(rebasing: record[headByteCount - Self.tagByteCount..<headByteCount])
        let nonce = Nonce(UnsafeRawBufferPointer(rebasing: record[Self.nonceOffset..<Self.lengthOffset]))
        return nonce.forPayload.withUnsafeBytes { nonce in
            // Opening in vain leaves zeros, so all but one cipher try with a copy.
            for cipher in ciphers.dropLast() {
                var copy = Array(payload)
                let isOpen = copy.withUnsafeMutableBytes {
                    cipher.open($0, nonce: nonce, authenticating: headTag, tag: tag)
                }
                if isOpen {
                    payload.copyBytes(from: copy)
                    return true
                }
            }
            return ciphers.last?.open(payload, nonce: nonce, authenticating: headTag, tag: tag) ?? false
        }
    }
}
