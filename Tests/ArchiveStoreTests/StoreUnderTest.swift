import StoreTrials

@testable import ArchiveStore

/// A kind of store that the laws are checked with.
enum StoreUnderTest: CaseIterable {
    case reference
    case file
    /// All keys of a file store share three names.
    case collidingFile

    /// Has `body` run with a function that opens one and the same place each time it is called.
    func withPlace(_ body: (_ open: () throws -> any ArchiveStore) throws -> Void) throws {
        switch self {
        case .reference:
            let store = ReferenceStore()
            try body { store }
        case .file:
            try withTemporaryDirectory { path in
                try body { try FileStore(directory: path + "/cache", create: true) }
            }
        case .collidingFile:
            try withTemporaryDirectory { path in
                try body {
                    try FileStore(directory: path + "/cache", create: true) { key in
                        EntryName(high: 0xab << 56, low: UInt64(key.bytes.reduce(0, ^) % 3))
                    }
                }
            }
        }
    }
}
