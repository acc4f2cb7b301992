import Foundation
import TestSupport

#if os(Linux)
    /// A file system in memory of so few bytes that it can be filled.
    enum SmallVolume {
        static let isPossible = (try? mount("size=64k") { _, _ in }) != nil

        /// Has `body` use a new one, with options of tmpfs; it can have it mounted again with others.
        static func mount(
            _ options: String,
            _ body: (_ path: String, _ remount: (String) throws -> Void) throws -> Void
        ) throws {
            try withTemporaryDirectory { path in
                try system("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)
                let result = Result {
                    try body(path) { try system("mount", "-o", "remount,\($0)", path) }
                }
                // A store may still do its last work in the background.
                try system("umount", "--lazy", path)
                try result.get()
            }
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
#endif
