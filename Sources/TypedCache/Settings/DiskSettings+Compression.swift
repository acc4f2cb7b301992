import ArchiveStore

extension DiskSettings {
    /// How much time a save takes to make an entry smaller on disk.
    ///
    /// With every setting, entries are zlib streams of keyed archives, and every cache reads all of them. No setting
    /// makes an entry larger than `.none` does.
    public struct Compression: Sendable, Hashable {
        let kind: ArchiveCompression

        /// Data that shrinks is deflated, at level 1; data that does not is stored as it is.
        ///
        /// Of archives of 64 KiB and more, samples of every 256 KiB are deflated first: where less than a sixteenth is
        /// saved, as with images, sound, video and other compressed data, those 256 KiB are stored. So a large image is
        /// saved about as fast as a plain file is written.
        public static let automatic = Compression(kind: .automatic)

        /// Nothing is compressed: an entry takes the archive's bytes and 5 more for each 65,535, and 6.
        ///
        /// Pays where the values are compressed data of less than 64 KiB, or where time matters and space does not. A
        /// packed cache learns no dictionary, so small values that are alike take three to four times the space.
        public static let none = Compression(kind: .stored)

        /// Everything is deflated at one of zlib's levels, without trying first whether it shrinks.
        ///
        /// Of text, levels 6 and 9 leave up to a sixth less than 1, in five to twenty times the time; of archives of
        /// numbers and identifiers they leave more. Level 1 itself pays where large values repeat long runs of bytes
        /// that do not shrink by themselves, which samples do not show.
        ///
        /// - Parameter level: 1, the fastest, to 9.
        /// - Precondition: there is such a level.
        public static func level(_ level: Int) -> Compression {
            precondition((1...9).contains(level), "zlib's levels of compression are 1 to 9")
            return Compression(kind: .level(level))
        }
    }
}
