/// The file `format` of a store's directory: one line that gives the kind of store and the version of its format.
///
///     typed-cache file store, format 2
///     typed-cache file store, format 3
///     typed-cache packed store, format 1
///
/// Without it a directory is a store's only if it holds nothing but a store's files, see ``StoreContents``; the next process
/// that changes the store makes it again. Bytes after the number are up to later versions.
///
/// Version 2 of a file store is version 1 with a journal and lists beside the entries, which a program that knows
/// version 1 only would not maintain. A directory of version 1 is one of version 2 without them: it is taken over by
/// writing the marker again. Version 3 is version 2 with encrypted entries; a store never changes between version 3 and the others.
enum StoreMarker {
    static let fileName = "format"

    /// As much as is read of a marker.
    static let largestByteCount = 64

    /// The way out where the marker of a store is damaged or gone, for messages.
    static let remedy = "restore the line as docs/format.md shows it, or remove the directory to start empty"

    static func bytes(_ kind: StoreKind, isSealed: Bool = false) -> [UInt8] {
        kind.prefix + Array("\(kind.version(isSealed: isSealed))\n".utf8)
    }

    /// The kind and version in `bytes`; `nil` if they are not a marker.
    static func parse(_ bytes: [UInt8]) -> (kind: StoreKind, version: Int)? {
        for kind in StoreKind.allCases where bytes.starts(with: kind.prefix) {
            let digits = bytes[kind.prefix.count...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard digits.count < bytes.count - kind.prefix.count else { return nil }
            guard let version = Int(String(decoding: digits, as: UTF8.self)), version > 0 else { return nil }
            return (kind, version)
        }
        return nil
    }
}

/// How a store keeps its entries in its directory.
package enum StoreKind: String, CaseIterable, Sendable {
    /// Each in a file of its own, see ``FileStore``.
    case file
    /// One after another in segments, see ``PackedStore``.
    case packed

    /// The latest version of its format, which is the one that is written.
    ///
    /// - Parameter isSealed: whether the marker is to say that the store is encrypted. A packed store's segments say it.
    func version(isSealed: Bool) -> Int {
        switch self {
        case .file: isSealed ? Self.sealedFileVersion : 2
        case .packed: 1
        }
    }

    /// Whether a store with a version is encrypted; `nil` if its version does not tell.
    func isSealed(version: Int) -> Bool? { self == .file ? version == Self.sealedFileVersion : nil }

    var largestVersion: Int { version(isSealed: true) }

    private static let sealedFileVersion = 3

    fileprivate var prefix: [UInt8] { Array("typed-cache \(rawValue) store, format ".utf8) }

    /// The kind that the marker of the store's directory at `path` gives, or the entries there if the marker is missing;
    /// `nil` if neither does.
    package init?(directory path: String) {
        switch Self.marker(path) {
        case .success(let bytes):
            guard let bytes, let (kind, _) = StoreMarker.parse(bytes) else { return nil }
            self = kind
        case .failure(let error):
            guard error.isMissing, let root = try? Directory(path: path, layer: FileLayer()) else { return nil }
            let found = Self.allCases.first { kind in
                guard let contents = try? StoreContents(of: root, kind: kind) else { return false }
                return contents.isOwn && contents.hasEntries
            }
            guard let found else { return nil }
            self = found
        }
    }

    /// Whether the directory at `path` is marked as a store's, also where the marker, or the directory, cannot be read.
    package static func isMarked(directory path: String) -> Bool {
        if case .failure(let error) = marker(path) { !error.isMissing } else { true }
    }

    /// The bytes of the marker; `nil` if it is not a regular file.
    private static func marker(_ path: String) -> Result<[UInt8]?, SystemError> {
        Result { () throws(SystemError) in
            try Directory(path: path, layer: FileLayer()).regularFile(
                StoreMarker.fileName,
                StoreMarker.largestByteCount
            )
        }
    }
}
