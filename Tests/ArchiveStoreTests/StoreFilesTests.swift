import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct StoreFilesTests {
    @Test func filesInDirectoriesCountAndLinksDoNot() throws {
        let folder = TestDirectory()
        let other = TestDirectory()
        for directory in [folder, other] {
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        }
        try Data(count: 1_000).write(to: other.url.appending(path: "large"))
        try Data(count: 10).write(to: folder.url.appending(path: "a"))
        let deep = folder.url.appending(path: "b/c")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        try Data(count: 5).write(to: deep.appending(path: "d"))
        for (name, target) in [("file", "/large"), ("directory", ""), ("nothing", "/none")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.url.path + "/" + name,
                withDestinationPath: other.url.path + target
            )
        }
        try FileManager.default.createSymbolicLink(
            atPath: deep.path + "/circle",
            withDestinationPath: folder.url.path
        )
        #expect(StoreFiles.byteCount(inDirectory: folder.url.path) == 15)
        #expect(StoreFiles.byteCount(inDirectory: folder.url.path + "/none") == 0)
    }

    @Test func directoriesWithoutEndAreLeft() throws {
        let folder = TestDirectory()
        var url = folder.url
        for _ in 0..<40 { url.append(path: "d") }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(count: 5).write(to: url.appending(path: "file"))
        try Data(count: 2).write(to: folder.url.appending(path: "file"))
        #expect(StoreFiles.byteCount(inDirectory: folder.url.path) == 2)
    }
}
