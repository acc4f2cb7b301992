import Foundation

/// A file system in memory of so few bytes or files that it can be filled. Mounting one takes Linux and root.
package enum SmallVolume {
    package static let isPossible = (try? mount("size=64k") { _, _ in }) != nil

    /// Mounts a volume at a new folder while `body` runs.
    ///
    /// - Parameters:
    ///   - options: of tmpfs, such as `size=1m`.
    ///   - body: may call `remount` with other options.
    package static func mount(
        _ options: String,
        _ body: (_ path: String, _ remount: (String) throws -> Void) throws -> Void
    ) throws {
        try withTemporaryDirectory { path in
            try mount(options, at: path) {
                try body(path) { try system("mount", "-o", "remount,\($0)", path) }
            }
        }
    }

    /// Mounts a volume at an existing folder while `body` runs.
    package static func mount<Value>(_ options: String, at path: String, _ body: () throws -> Value) throws -> Value
    {
        try system("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)
        let result = Result { try body() }
        // A store may still do its last work in the background.
        try system("umount", "--lazy", path)
        return try result.get()
    }

    private static func system(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        struct Failure: Error { let command: [String] }
        guard process.terminationStatus == 0 else { throw Failure(command: words) }
    }
}
