import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The attributes of an open file.
@Suite struct OpenFileTests {
    @Test func tellsHowManyNamesItHasAndHowLongItIs() throws {
        try withTemporaryDirectory { path in
            let directory = try Directory(path: path, layer: FileLayer())
            let file = try directory.makeFile("a")
            func check(_ linkCount: Int, _ byteCount: Int) throws {
                let (links, bytes) = try file.extent()
                let status = try file.status()
                #expect(links == linkCount && status.linkCount == linkCount)
                #expect(bytes == byteCount && status.byteCount == byteCount)
            }
            try check(1, 0)
            try file.write([1, 2, 3], at: 0)
            try directory.link("a", to: "b", in: directory)
            try check(2, 3)
            try file.truncate(to: 1 << 33)
            try directory.remove("b")
            try check(1, 1 << 33)
            try directory.remove("a")
            try check(0, 1 << 33)
        }
    }

    /// A file may have a huge length; only the ranges that were written are worth reading.
    @Test func tellsWhereItsBytesAre() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let directory = try Directory(path: path, layer: FileLayer())
            let file = try directory.makeFile("a")
            try file.truncate(to: 1 << 40)
            #expect(try file.nextData(from: 0) == nil)
            try file.write([1], at: 1 << 30)
            let start = try #require(try file.nextData(from: 0))
            #expect(start <= 1 << 30 && start > 1 << 30 - 1 << 22)
            #expect(try file.nextData(from: 1 << 30) == 1 << 30)
            #expect(try file.nextData(from: 1 << 31) == nil)
        }
    }
}
