import Foundation
import TestSupport

/// A file system of so few bytes or files that it can be filled; unmounted when it goes.
final class SmallDisk {
    let folder: URL

    /// - Parameter options: of tmpfs, such as `size=1m`.
    /// - Returns: `nil` where mounting is not allowed or not possible.
    init?(at folder: URL, options: String) throws {
        self.folder = folder
        guard try Self.system("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder.path) == 0 else { return nil }
    }

    deinit {
        // If it cannot be unmounted, the removal of the folder deals with it.
        _ = try? Self.system("umount", folder.path)
    }

    private static func system(_ words: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
