import CSystemZlib
import Foundation
import KeyedArchive
import TypedCache
import Workloads

/// A record with some text, as articles, messages and descriptions are.
struct Article: Codable, Encoded, Sendable {
    let number: Int
    let title: String
    let changedAt: Double
    let text: String

    /// Articles that are all different and the same in every run.
    ///
    /// - Parameter textByteCount: how long their text is.
    static func make(count: Int, textByteCount: Int) -> [Article] {
        let source = GeneratedText(seed: 17)
        var generator = SeededGenerator(seed: UInt64(textByteCount))
        return (0..<count).map { number in
            Article(
                number: number,
                title: source.text(byteCount: 20, using: &generator),
                changedAt: 780_000_000 + Double(number * 7_919),
                text: source.text(byteCount: textByteCount, using: &generator)
            )
        }
    }
}

/// An article as compressed bytes, the way one would write it by hand: an archive's length, and it deflated.
final class ArticleCodec {
    private static let lengthByteCount = MemoryLayout<UInt32>.size

    private let streams: ZlibStreams?

    /// - Parameter reusesStreams: whether zlib's state is kept, or set up for each article by `compress2`.
    init(reusesStreams: Bool) {
        streams = reusesStreams ? ZlibStreams() : nil
    }

    func bytes(of article: Article) throws -> [UInt8] {
        let archive = try KeyedArchiver.archivedData(encoding: article)
        let length = withUnsafeBytes(of: UInt32(archive.count).littleEndian) { Array($0) }
        return length + (try streams?.deflate(archive) ?? ZlibStreams.compress(archive, level: Z_BEST_SPEED))
    }

    /// The zlib stream in an article's bytes, and how many it holds.
    ///
    /// - Precondition: `bytes` are not fewer than a length takes.
    static func parts(of bytes: [UInt8]) -> (stream: ArraySlice<UInt8>, archiveByteCount: Int) {
        let length = bytes.withUnsafeBytes { Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
        return (bytes[lengthByteCount...], length)
    }

    func article(in bytes: [UInt8]) throws -> Article {
        guard bytes.count > Self.lengthByteCount else { throw BenchmarkError("an article's bytes are too few") }
        let (deflated, length) = Self.parts(of: bytes)
        let archive = try streams?.inflate(deflated, count: length) ?? ZlibStreams.expand(deflated, count: length)
        return try KeyedUnarchiver.unarchivedValue(of: Article.self, from: archive)
    }
}
