import ArchiveStore
import TypedCache

extension SharedSettings {
    /// How much time a save takes to make an entry smaller, on the way and in the server's memory.
    ///
    /// With every setting, entries are zlib streams of keyed archives, and machines with any setting read all of them.
    public struct Compression: Sendable, Equatable {
        private let kind: ArchiveCompression
        /// An archive of at most so many bytes is stored as it is.
        private let largestStored: Int

        /// Data that shrinks is deflated, at level 1; data that does not is stored as it is: see
        /// `DiskSettings.Compression.automatic`.
        public static let automatic = Compression(kind: .automatic)

        /// Nothing is compressed. Pays where values are compressed data, or where the time of a process is scarcer than the
        /// server's memory: of a save of 1 KiB, deflating is more than half.
        public static let none = Compression(kind: .stored)

        /// As ``automatic``, for values with archives above a size; smaller ones are stored as they are.
        public static func above(_ size: ByteCount) -> Compression {
            Compression(kind: .automatic, largestStored: max(0, size.bytes))
        }

        /// Everything is deflated at one of zlib's levels, without trying first whether it shrinks.
        ///
        /// - Parameter level: 1, the fastest, to 9.
        /// - Precondition: there is such a level.
        public static func level(_ level: Int) -> Compression {
            precondition((1...9).contains(level), "zlib's levels of compression are 1 to 9")
            return Compression(kind: .level(level))
        }

        private init(kind: ArchiveCompression, largestStored: Int = 0) {
            self.kind = kind
            self.largestStored = largestStored
        }

        /// The compression of one archive.
        func kind(for archive: [UInt8]) -> ArchiveCompression { archive.count > largestStored ? kind : .stored }
    }
}
