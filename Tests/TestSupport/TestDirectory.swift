import Foundation
import Synchronization

/// A folder of a test's own, removed with the object. The user creates it.
package final class TestDirectory: Sendable {
    package let url: URL

    /// - Parameter inMemory: whether the folder is in memory, where the system has room for files there: for tests
    ///   that make very many of them.
    package init(inMemory: Bool = false) { url = Self.newPath(inMemory: inMemory) }

    /// A path of no file yet, in a folder that goes with this process.
    package static func newPath(inMemory: Bool = false) -> URL {
        let folder = inMemory ? runFolders.memory : runFolders.disk
        return folder.appending(path: "\(pathCount.add(1, ordering: .relaxed).newValue)")
    }

    deinit {
        if FileManager.default.fileExists(atPath: url.path) { try? removeDirectory(url.path) }
    }
}

private let pathCount = Atomic(0)
private let runFolders = RunFolders()

/// The folders in which this process has those of its tests, on disk and in memory.
///
/// A shell reads a pipe that only this process could write to, and so notices its end, also by SIGKILL. Then it kills the
/// processes that work in the folders, unmounts and removes all that is there. A signal at the parent's death would not
/// do: Linux sends it when the *thread* ends that started the process.
private struct RunFolders {
    let disk: URL
    let memory: URL
    private let lifeline = Pipe.make()

    init() {
        let name = "typed-cache-tests-\(UUID().uuidString.prefix(8))"
        disk = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let hasMemory = FileManager.default.isWritableFile(atPath: memory.path)
        self.memory = hasMemory ? memory.appending(path: name, directoryHint: .isDirectory) : disk
        let script = """
            trap '' HUP INT TERM
            read -r _
            for process in /proc/[0-9]*; do
                case $(readlink "$process/cwd") in "$1"/* | "$2"/*) kill -9 "${process#/proc/}" ;; esac
            done
            while read -r _ place _; do
                case $place in "$1"/* | "$2"/*) umount -l "$place" ;; esac
            done </proc/mounts
            rm -rf "$1" "$2"
            """
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script, "sh", disk.path, self.memory.path]
        shell.standardInput = lifeline
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        do {
            for folder in [disk, self.memory] {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            try shell.start()
        } catch {
            preconditionFailure("There is no place for the folders of tests: \(error)")
        }
        if CommandLine.arguments[0].hasSuffix(".xctest") { Self.endWithParent() }
    }

    /// Tests go on when `swift test` is killed, unless they look for it.
    private static func endWithParent() {
        let parent = getppid()
        Thread.detachNewThread {
            while getppid() == parent { Thread.sleep(forTimeInterval: 0.5) }
            kill(getpid(), SIGKILL)
        }
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
