import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

#if os(Linux)
    /// A store closes every file that it opens.
    @Suite(.serialized) struct DescriptorTests {
        /// The files below a directory that this process has open.
        private func openFiles(below path: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/" + descriptor
                )
                return target?.hasPrefix(path) == true
            }
        }

        @Test(arguments: [StoreKind.file, .packed])
        func aStoreThatIsGoneHasNothingOpen(kind: StoreKind) throws {
            try withTemporaryDirectory { path in
                for round in 0..<(isLongRun ? 40 : 10) {
                    do {
                        let store: any ArchiveStore =
                            switch kind {
                            case .file: try FileStore(directory: path + "/cache", create: true)
                            case .packed: try PackedStore(directory: path + "/cache", create: true)
                            }
                        for key in 0..<(round % 4 == 0 ? 100 : 3) {
                            try store.save([1, 2, 3], forKey: "\(key)", storedAt: .now, expiresAt: nil)
                        }
                        _ = try store.fetch(forKey: "1")
                        if round % 3 == 0 { try store.compact() }
                        if round % 7 == 0 { try store.removeAll() }
                    }
                }
                // Its last work may go on in the background, for as long as the machine is busy with other things.
                try wait(until: openFiles(below: path) == 0)
            }
        }
    }
#endif
