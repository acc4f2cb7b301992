import Foundation

/// A folder of a test's own, removed with the object. The user creates it.
package final class TestDirectory: Sendable {
    package let url: URL

    /// - Parameter inMemory: whether the folder is in memory, where the system has room for files there: for tests
    ///   that make very many of them.
    package init(inMemory: Bool = false) {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        url = (hasMemory ? memory : FileManager.default.temporaryDirectory).appending(
            path: "typed-cache-tests-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
    }

    deinit {
        if FileManager.default.fileExists(atPath: url.path) { try? removeDirectory(url.path) }
    }
}

/// Runs `body` with the path of a new folder, and removes the folder with all that is in it afterwards.
///
/// - Parameter inMemory: whether the folder is in memory, where the system has room for files there: for tests that
///   make very many of them.
package func withTemporaryDirectory(inMemory: Bool = false, _ body: (_ path: String) throws -> Void) throws {
    let directory = TestDirectory(inMemory: inMemory)
    try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
    let result = Result { try body(directory.url.path) }
    try removeDirectory(directory.url.path)
    try result.get()
}

/// Removes a folder in which a store may still be doing its last work in the background.
package func removeDirectory(_ path: String) throws {
    for _ in 0..<100 {
        if (try? FileManager.default.removeItem(atPath: path)) != nil { return }
        usleep(10_000)
    }
    try FileManager.default.removeItem(atPath: path)
}
