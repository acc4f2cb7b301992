/// How much time a store takes to make archives smaller. Every store reads archives of every setting.
package enum ArchiveCompression: Sendable, Hashable {
    /// Level 1; input that hardly shrinks is stored: see `CompressionProbe`.
    case automatic
    /// Nothing is deflated: archives are stored in zlib streams as they are.
    case stored
    /// All is deflated at one of zlib's levels, 1 to 9, without trying first whether it shrinks.
    case level(Int)

    /// zlib's level; `nil`: nothing is deflated.
    var level: Int? {
        switch self {
        case .automatic: 1
        case .stored: nil
        case .level(let level): level
        }
    }

    /// The deflated and the stored parts of an archive; none for a small one, which is not divided (and for which no
    /// array is allocated).
    func runs(of archive: UnsafeRawBufferPointer) -> [CompressionProbe.Run] {
        guard archive.count > DeflateSettings.largestSmallInput else { return [] }
        return self == .automatic
            ? CompressionProbe.runs(of: archive) : [.init(range: 0..<archive.count, shrinks: self != .stored)]
    }
}
