import TestSupport

@testable import ArchiveStore

/// Archives as one type makes them: most bytes in common, some words from a few, some bytes of their own.
enum AlikeArchives {
    private static let places = ["Asia/Tehran", "Europe/Lisbon", "America/Bogota", "Africa/Dakar"]

    static func make(count: Int, seed: Int) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let number = UInt32.random(in: 0...(.max), using: &random)
            let place = places[Int.random(in: 0..<places.count, using: &random)]
            return Array(
                """
                bplist00$archiver$objects$top$version NSKeyedArchiver root $null identifier population timezone \
                \(number) countrycode \(place) latitude longitude \(number / 7) $class $classes $classname \
                atlas.City NSObject
                """.utf8
            )
        }
    }
}

extension PresetDictionary {
    /// Deflates `bytes` to a zlib stream.
    func deflate(_ bytes: [UInt8], compression: ArchiveCompression = .automatic) -> [UInt8] {
        var isBare = false
        let data = [UInt8](unsafeUninitializedCapacity: StoredBlocks.byteCount(for: bytes.count)) { buffer, count in
            let made = bytes.withUnsafeBytes {
                deflate($0, into: UnsafeMutableRawBufferPointer(buffer), compression)
            }
            count = made.byteCount
            isBare = made.isBare
        }
        return isBare ? stream(ofBare: data[...], content: bytes) : data
    }

    /// Inflates all of `stream`.
    func inflate(_ stream: [UInt8], expecting byteCount: Int, limit: Int = .max) throws(InflateError) -> [UInt8] {
        try inflate(from: 0, count: stream.count, of: stream, expecting: byteCount, limit: limit)
    }
}
