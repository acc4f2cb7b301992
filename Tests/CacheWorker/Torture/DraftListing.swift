import Foundation

/// The content of a store's directory of drafts.
struct DraftListing {
    /// Files that are, or were, being written.
    let drafts: [String]
    /// One for each session, living or dead.
    let locks: [String]

    init(cache: URL) throws {
        let folder = cache.appending(path: ".drafts").path
        let names =
            FileManager.default.fileExists(atPath: folder)
            ? try FileManager.default.contentsOfDirectory(atPath: folder) : []
        locks = names.filter { $0.hasSuffix(".lock") }.sorted()
        drafts = names.filter { !$0.hasSuffix(".lock") }.sorted()
    }
}
