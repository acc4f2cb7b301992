import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// Classes of data protection and exclusion from backups, on a volume in memory; the system's own calls exist on Apple's
/// systems only.
@Suite struct FileAttributeTests {
    typealias Class = DiskSettings.DataProtection.Class

    private final class Volume: FileAttributeCalls {
        struct State {
            /// The class of each path; `nil`: the system's default.
            var classes: [String: Class?]
            var excluded: Set<String> = []
            var changeCount = 0
            /// The call for a change that fails, counted from 0.
            var failing: Int?
            /// The file that another process makes just before the directory gets its class.
            var newcomer: String?
            /// The file that is gone when its class is set.
            var missing: String?

            mutating func change(_ path: String) throws {
                defer { changeCount += 1 }
                if changeCount == failing { throw CocoaError(.fileWriteNoPermission) }
                if path == missing || classes[path] == nil { throw CocoaError(.fileNoSuchFile) }
            }
        }

        let state: Mutex<State>
        init(_ paths: [String]) {
            state = Mutex(State(classes: [String: Class?](uniqueKeysWithValues: paths.map { ($0, nil) })))
        }

        func contents(of directory: String) throws -> [String] {
            try state.withLock {
                if $0.classes[directory] == nil { throw CocoaError(.fileReadNoSuchFile) }
                let paths = $0.classes.keys.filter { $0.hasPrefix(directory + "/") }
                return paths.map { String($0.dropFirst(directory.count + 1)) }.sorted()
            }
        }

        func fileClass(of path: String) throws -> Class? {
            try state.withLock {
                guard let found = $0.classes[path] else { throw CocoaError(.fileReadNoSuchFile) }
                return found
            }
        }

        func setFileClass(_ fileClass: Class, of path: String) throws {
            try state.withLock {
                if let newcomer = $0.newcomer, path == "/cache" { $0.classes.updateValue(nil, forKey: newcomer) }
                try $0.change(path)
                $0.classes[path] = fileClass
            }
        }

        func isExcludedFromBackup(_ directory: String) throws -> Bool {
            state.withLock { $0.excluded.contains(directory) }
        }

        func excludeFromBackup(_ directory: String) throws {
            try state.withLock {
                try $0.change(directory)
                $0.excluded.insert(directory)
            }
        }

        func hasClass(_ expected: Class) -> Bool {
            state.withLock { $0.classes.values.allSatisfy { $0 == expected } }
        }
    }

    private let settings = DiskSettings(dataProtection: .complete, isExcludedFromBackup: true)
    private let paths = ["/cache", "/cache/log.1", "/cache/shard", "/cache/shard/entry"]

    private func prepare(_ volume: Volume, _ settings: DiskSettings) throws(StoreError) {
        try settings.preparing(by: volume)?("/cache")
    }

    @Test func defaultsTouchNothing() {
        #expect(DiskSettings().preparing(by: Volume([])) == nil)
    }

    @Test(arguments: [
        (DiskSettings.DataProtection.complete, Class.complete), (.completeUnlessOpen, .completeUnlessOpen),
        (.completeUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication), (.none, .none),
    ]) func theDirectoryAndItsFilesGetTheClass(protection: DiskSettings.DataProtection, fileClass: Class) throws {
        let volume = Volume(paths)
        try prepare(volume, DiskSettings(dataProtection: protection))
        #expect(volume.hasClass(fileClass))
        volume.state.withLock {
            #expect($0.excluded.isEmpty)
            $0.changeCount = 0
        }
        try prepare(volume, DiskSettings(dataProtection: protection))
        #expect(volume.state.withLock { $0.changeCount } == 0)
    }

    @Test func onlyTheDirectoryIsExcludedFromBackup() throws {
        let volume = Volume(paths)
        for _ in 0..<2 { try prepare(volume, DiskSettings(isExcludedFromBackup: true)) }
        volume.state.withLock {
            #expect($0.excluded == ["/cache"] && $0.changeCount == 1)
            #expect($0.classes.values.allSatisfy { $0 == nil })
        }
    }

    @Test func filesOfOtherProcessesAreFound() throws {
        let volume = Volume(paths)
        volume.state.withLock {
            $0.newcomer = "/cache/newcomer"
            $0.missing = "/cache/log.1"
        }
        try prepare(volume, settings)
        volume.state.withLock { state in
            #expect(state.classes["/cache/newcomer"] == .complete)
            #expect(state.classes.filter { $0.value == nil }.map(\.key) == ["/cache/log.1"])
        }
    }

    @Test func anInterruptedChangeIsThrownAndDoneAgain() throws {
        var failing = 0
        while true {
            let volume = Volume(paths)
            volume.state.withLock { $0.failing = failing }
            do throws(StoreError) {
                try prepare(volume, settings)
                break
            } catch {
                #expect(error.code == .io && error.path == "/cache")
                #expect(error.reason.contains("DiskSettings."))
                // A class that is set for the directory says that all files had it, but for those of that very moment.
                if try volume.fileClass(of: "/cache") == .complete { #expect(volume.hasClass(.complete)) }
            }
            try prepare(volume, settings)
            #expect(volume.hasClass(.complete))
            #expect(try volume.isExcludedFromBackup("/cache"))
            failing += 1
        }
        #expect(failing == 8)
    }

    @Test func aDirectoryThatWasRemovedIsAMissingFile() {
        #expect { try prepare(Volume([]), settings) } throws: { ($0 as? StoreError)?.errorNumber == ENOENT }
    }

    // MARK: When a store calls it

    private func open(_ kind: StoreKind, at path: String, _ settings: StoreSettings) throws -> any ArchiveStore {
        switch kind {
        case .file: try FileStore(directory: path, create: true, settings: settings)
        case .packed: try PackedStore(directory: path, create: true, settings: settings)
        }
    }

    @Test(arguments: [StoreKind.file, .packed])
    func aStorePreparesItsDirectoryBeforeEntriesAreThere(kind: StoreKind) throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/cache"
            let byteCounts = Mutex<[Int]>([])
            var settings = StoreSettings()
            settings.prepare = { prepared in
                #expect(prepared == path)
                let names = (try? FileManager.default.subpathsOfDirectory(atPath: prepared)) ?? ["missing"]
                let sizes = names.compactMap { FileManager.default.contents(atPath: prepared + "/" + $0)?.count }
                byteCounts.withLock { $0.append(sizes.reduce(0, +)) }
            }
            let store = try open(kind, at: path, settings)
            #expect(byteCounts.withLock { $0.count } == 1)
            let archive = [UInt8](repeating: 7, count: 1_000).map { $0 &* UInt8.random(in: 1...255) }
            try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
            try FileManager.default.removeItem(atPath: path)
            Thread.sleep(forTimeInterval: 0.05)
            try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try store.fetch(forKey: "key")?.archive == archive)
            byteCounts.withLock {
                #expect($0.count == 2)
                #expect($0.allSatisfy { $0 < 500 }, "\($0)")
            }
        }
    }

    @Test(arguments: [StoreKind.file, .packed])
    func aStoreThatCannotPrepareIsNotOpened(kind: StoreKind) throws {
        try withTemporaryDirectory { directory in
            let refusal = StoreError(.io, path: directory, action: "setting", reason: "refused")
            var settings = StoreSettings()
            settings.prepare = { _ throws(StoreError) in throw refusal }
            #expect { try open(kind, at: directory + "/cache", settings) } throws: {
                ($0 as? StoreError)?.reason == "refused"
            }
        }
    }
}
