import Foundation

// Bytes, and the data that is kept alive for their addresses.
extension KeyedUnarchiver {
    #if canImport(Darwin)
        /// Calls `body` with the bytes of the data under a key, or with `nil`; they are valid inside only.
        public func withDecodedUnsafeBufferPointer<Result>(
            forKey key: String,
            body: (UnsafeBufferPointer<UInt8>?) throws -> Result
        ) rethrows -> Result {
            try withBytes(forKey: key, body)
        }

        /// As ``withDecodedUnsafeBufferPointer(forKey:body:)``, without the type of the bytes.
        public func withDecodedUnsafeBytes<Result>(
            forKey key: String,
            body: (UnsafeRawBufferPointer?) throws -> Result
        ) rethrows -> Result {
            try withBytes(forKey: key) { try body($0.map { UnsafeRawBufferPointer($0) }) }
        }

        /// The bytes of the data under a key, which live as long as this unarchiver; `nil` for none and after an error.
        func lastingBytes(forKey key: String, _ count: UnsafeMutablePointer<Int>?) -> UnsafePointer<UInt8>? {
            let found = attempt(key) { () throws(ArchiveError) -> Range<Int>? in
                guard let reference = try value(of: key) else { return nil }
                return try range(ofLastingDataAt: reference)
            }
            guard let range = found else {
                count?.pointee = 0
                return nil
            }
            let kept = keep(Array(source.list.bytes.data(in: range)))
            count?.pointee = kept.length
            return UnsafePointer(kept.bytes.assumingMemoryBound(to: UInt8.self))
        }
    #else
        /// The bytes of the next value, which live as long as this unarchiver; `nil` for none and after an error.
        public func decodeBytes(withReturnedLength count: UnsafeMutablePointer<Int>) -> UnsafeMutableRawPointer? {
            nextBytes(count)
        }
    #endif

    /// Calls `body` with the bytes of the data under a key, or with `nil`; they are valid inside only.
    func withBytes<Result>(
        forKey key: String,
        _ body: (UnsafeBufferPointer<UInt8>?) throws -> Result
    ) rethrows -> Result {
        guard let range = bytes(of: key) else { return try body(nil) }
        return try source.list.bytes.withBytes(in: range) { try body($0) }
    }

    /// The range of the bytes of a key's data, or `nil`.
    private func bytes(of key: String) -> Range<Int>? {
        attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key) else { return nil }
            return try range(ofDataAt: reference)
        }
    }

    /// The bytes of the next value, which live as long as this unarchiver; `nil` for none and after an error.
    func nextBytes(_ count: UnsafeMutablePointer<Int>) -> UnsafeMutableRawPointer? {
        let data = nextUnkeyed { reference throws(ArchiveError) -> Data? in
            try range(ofLastingDataAt: reference).map { source.list.bytes.data(in: $0) }
        }
        count.pointee = data?.count ?? 0
        return data.map { keep(Array($0)).mutableBytes }
    }

    /// The range of the bytes of data, or `nil` for nil.
    private func range(ofDataAt reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Range<Int>? {
        guard let target = try source.resolve(reference) else { return nil }
        guard case .data(let range) = try source.list.object(target) else { throw mismatch("data", target) }
        return range
    }

    /// The range of the bytes of data that the unarchiver keeps: they count for each value that has them.
    private func range(
        ofLastingDataAt reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Range<Int>? {
        guard let range = try range(ofDataAt: reference) else { return nil }
        try budget.spend(bytes: range.count)
        return range
    }

    /// Keeps bytes alive until the unarchiver is freed: their address is given out.
    func keep(_ bytes: [UInt8]) -> NSMutableData {
        // One byte at least: memory of none need not have an address.
        let kept = NSMutableData(length: max(1, bytes.count)) ?? NSMutableData()
        UnsafeMutableRawBufferPointer(start: kept.mutableBytes, count: bytes.count).copyBytes(from: bytes)
        kept.length = bytes.count
        keptBytes.append(kept)
        return kept
    }
}
