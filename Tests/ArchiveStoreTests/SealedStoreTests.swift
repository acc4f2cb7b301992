import Foundation
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// A thief has the files of an encrypted store, but not its key.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct SealedStoreTests {
    // MARK: Visible without a key

    private static let marker = "MarkerToFind"

    /// Saves entries whose keys, tags and archives are markers, alike enough for a dictionary, with all that a store does to
    /// them; gives the files while it is open, and after it was closed.
    private func plant(_ keys: KeyProvider?, count: Int) throws -> [[String: [UInt8]]] {
        var states: [[String: [UInt8]]] = []
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try SealedFolder.open(path, keys)
            for number in 0..<count {
                var attributes = EntryAttributes(storedAt: .now, expiresAt: .distantFuture)
                attributes.tags = ["\(Self.marker) tag \(number % 100)"]
                let archive = Array("{ \"name\": \"\(Self.marker) value \(number)\", \"is\": true }".utf8)
                let key = "\(Self.marker) key \(number)"
                let results = store.save([NewArchive(key: key, archive: archive, attributes: attributes)])
                for result in results { _ = try result.get() }
                if number % 3 == 0 { try store.remove(forKey: "\(Self.marker) key \(number / 2)") }
                if number == count / 2 { try store.current.snapshots.write() }
            }
            store.finishUpkeep()
            #expect(store.current.tail.dictionary != nil)
            states.append(try SealedFolder.files(path))
            try store.compact()
            try store.current.snapshots.write()
            states.append(try SealedFolder.files(path))
            try store.close()
            states.append(try SealedFolder.files(path))
        }
        return states
    }

    @Test func noMarkerIsInAnyFile() throws {
        let states = try plant(.of(TrialKeys.one), count: 10_000)
        #expect(states.allSatisfy { $0.keys.contains("index") })
        let hashes = (0..<200).map { number in
            let digest = KeyDigest(hashing: "\(Self.marker) key \(number)").shortened
            return withUnsafeBytes(of: digest.high.bigEndian) { Data($0.suffix(5)) }
        }
        let parts = [Self.marker, "{ \"name\"", "\"is\": true"].map { Data($0.utf8) } + hashes
        for (name, bytes) in states.flatMap({ $0 }) {
            let data = Data(bytes)
            for part in parts { #expect(data.range(of: part) == nil, "\(name)") }
            #expect(!name.contains("Marker"))
        }
    }

    /// The same search finds them where nothing is encrypted.
    @Test func theSearchFindsMarkers() throws {
        let states = try plant(nil, count: 300)
        let files = states.flatMap { $0 }.filter { Segment.number($0.key) != nil }
        #expect(files.contains { Data($0.value).range(of: Data(Self.marker.utf8)) != nil })
        let digest = KeyDigest(hashing: "\(Self.marker) key 299").shortened
        let hash = withUnsafeBytes(of: digest.high.bigEndian) { Data($0.suffix(5)) }
        #expect(states.contains { state in state["index"].map { Data($0).range(of: hash) != nil } ?? false })
    }

    // MARK: Other keys

    /// Whichever key is wrong or missing, opening says so, and nothing is touched.
    @Test(arguments: [false, true]) func otherKeysTouchNothing(create: Bool) throws {
        try withTemporaryDirectory { path in
            let store = try SealedFolder.open(path)
            for number in 0..<300 {
                let archive = AlikeArchives.make(count: 1, seed: number)[0]
                try store.save(archive, forKey: "\(number)", storedAt: .now, expiresAt: nil)
            }
            try store.close()
            let before = try SealedFolder.files(path)
            let providers: [KeyProvider?] = [
                nil, .of(TrialKeys.two), .of(TrialKeys.key(1, variant: 1)), .of(TrialKeys.two, TrialKeys.key(3)),
                KeyProvider { throw CancellationError() },
            ]
            for (number, keys) in providers.enumerated() {
                #expect(code { _ = try SealedFolder.open(path, keys, create: create) } == .locked, "\(number)")
                #expect(try SealedFolder.files(path) == before, "\(number)")
                // Nor without an index, or a marker.
                for missing in [["index"], ["format"], ["index", "format"]] {
                    let files = before.filter { !missing.contains($0.key) && !$0.key.contains("/") }
                    let copy = path + "/../\(UUID().uuidString)"
                    try SealedFolder.write(files, to: copy)
                    let place: Comment = "\(number), without \(missing)"
                    #expect(code { _ = try SealedFolder.open(copy, keys, create: create) } == .locked, place)
                    #expect(try SealedFolder.files(copy) == files, place)
                    let names = try FileManager.default.contentsOfDirectory(atPath: copy)
                    #expect(Set(names) == Set(files.keys), place)
                    try removeDirectory(copy)
                }
            }
            let again = try SealedFolder.open(path, create: create)
            #expect(try again.fetch(forKey: "7")?.archive == AlikeArchives.make(count: 1, seed: 7)[0])
        }
    }

    /// A store that is not encrypted is none for which there is a key, so that nobody can put one in its place.
    @Test func filesThatAreNotEncryptedAreRefused() throws {
        try withTemporaryDirectory { path in
            let plain = try SealedFolder.open(path, nil)
            try plain.save([1, 2, 3], forKey: "key", storedAt: .now, expiresAt: nil)
            try plain.close()
            let before = try SealedFolder.files(path)
            #expect(code { _ = try SealedFolder.open(path) } == .locked)
            #expect(try SealedFolder.files(path) == before)
        }
    }

    /// A store that was open when another process began to encrypt.
    @Test func aStoreThatWasEmptyIsLockedForOthers() throws {
        try withTemporaryDirectory { path in
            let plain = try SealedFolder.open(path, nil)
            let other = try SealedFolder.open(path, .of(TrialKeys.two))
            let store = try SealedFolder.open(path)
            try store.save([1, 2, 3], forKey: "key", storedAt: .now, expiresAt: nil)
            for refused in [plain, other] {
                #expect(code { _ = try refused.fetch(forKey: "key") } == .locked)
                #expect(code { try refused.save([4], forKey: "key", storedAt: .now, expiresAt: nil) } == .locked)
                #expect(code { _ = try refused.remove(forKey: "key") } == .locked)
                #expect(code { try refused.removeAll() } == .locked)
            }
            #expect(try store.fetch(forKey: "key")?.archive == [1, 2, 3])
        }
    }

    // MARK: Rotation

    @Test func newEntriesHaveTheNewKey() throws {
        try withTemporaryDirectory { path in
            let first = try SealedFolder.open(path)
            for number in 0..<100 {
                try first.save([UInt8(number)], forKey: "\(number)", storedAt: .now, expiresAt: nil)
            }
            try first.close()
            func keys() throws -> Set<UInt64> {
                var keys: Set<UInt64> = []
                for (name, bytes) in try SealedFolder.files(path) where Segment.number(name) != nil {
                    keys.insert(ByteReader(bytes).number(at: 52))
                }
                return keys
            }
            #expect(try keys() == [1])
            let rotated = try SealedFolder.open(path, .of(TrialKeys.two, TrialKeys.one))
            try rotated.save([200], forKey: "new", storedAt: .now, expiresAt: nil)
            #expect(try keys() == [1, 2])
            #expect(try rotated.fetch(forKey: "5")?.archive == [5])
            // The former process cannot read the new entries, and does not take them for damage.
            let late = try? SealedFolder.open(path)
            if let late { #expect(try SealedFolder.answer(late, "new") == .locked) }
            try rotated.close()

            // Without the former key, its entries are not to be had, but they are there.
            let before = try SealedFolder.files(path)
            let partial = Result { try SealedFolder.open(path, .of(TrialKeys.two)) }
            if case .success(let store) = partial {
                #expect(try SealedFolder.answer(store, "5") == .locked)
                #expect(try store.fetch(forKey: "new")?.archive == [200])
                try store.close()
            }
            for (name, bytes) in before where Segment.number(name) != nil {
                #expect(try SealedFolder.files(path)[name] == bytes)
            }

            let compacting = try SealedFolder.open(path, .of(TrialKeys.two, TrialKeys.one))
            try compacting.compact()
            try compacting.close()
            #expect(try keys() == [2])
            let alone = try SealedFolder.open(path, .of(TrialKeys.two))
            #expect(try alone.fetch(forKey: "5")?.archive == [5])
            #expect(try alone.fetch(forKey: "new")?.archive == [200])
            #expect(code { _ = try SealedFolder.open(path) } == .locked)
        }
    }

    /// A store that is open asks for its keys again when it meets one that it does not have.
    @Test func aStoreFollowsAnotherOnesRotation() throws {
        try withTemporaryDirectory { path in
            let isRotated = Atomic(false)
            let provider = KeyProvider {
                let one = TrialKeys.one
                return isRotated.load(ordering: .relaxed)
                    ? SealingKeys(current: TrialKeys.two, others: [one]) : SealingKeys(current: one)
            }
            let reader = try SealedFolder.open(path, provider)
            let writer = try SealedFolder.open(path, provider)
            let locked = try SealedFolder.open(path)
            for store in [reader, writer, locked] {
                try store.save([1], forKey: "former", storedAt: .now, expiresAt: nil)
            }
            let rotated = try SealedFolder.open(path, .of(TrialKeys.two, TrialKeys.one))
            try rotated.save([2], forKey: "new", storedAt: .now, expiresAt: nil)
            isRotated.store(true, ordering: .relaxed)
            #expect(try reader.fetch(forKey: "new")?.archive == [2])
            try writer.save([3], forKey: "newer", storedAt: .now, expiresAt: nil)
            #expect(try rotated.fetch(forKey: "newer")?.archive == [3])
            #expect(try reader.fetch(forKey: "former")?.archive == [1])
            #expect(try SealedFolder.answer(locked, "new") == .locked)
            #expect(code { try locked.save([4], forKey: "new", storedAt: .now, expiresAt: nil) } == .locked)
        }
    }

    /// All that rekeying writes is on the device when it returns, under each durability and with limits, and the former segments
    /// are gone from there: the former key may be forgotten.
    @Test(arguments: [nil, 1 << 20]) func rekeyingWaitsForTheDevice(byteLimit: Int?) throws {
        try withTemporaryDirectory { path in
            let first = try SealedFolder.open(path)
            for number in 0..<5 { try first.save([1], forKey: "\(number)", storedAt: .now, expiresAt: nil) }
            try first.close()
            let calls = Mutex<[FileLayer.Call]>([])
            let layer = FileLayer { call in
                calls.withLock { $0.append(call) }
                return .proceed
            }
            var settings = SealedFolder.settings(.of(TrialKeys.two, TrialKeys.one))
            settings.byteLimit = byteLimit
            let store = try PackedStore(directory: path, create: false, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            #expect(try store.rekey { _ in true }.formerKeys == [])
            let made = calls.withLock { $0 }
            func last(_ operation: FileLayer.Operation, _ name: String) -> Int? {
                made.lastIndex { $0.operation == operation && $0.name == name }
            }
            let removed = try #require(last(.remove, "00000001.segment"))
            #expect(try #require(last(.synchronize, path)) > removed)
            let written = try #require(last(.write, "00000002.segment"))
            #expect(try #require(last(.synchronize, "00000002.segment")) > written)
        }
    }

    // MARK: Records

    /// A record that could not be written at one place is encrypted again for another one, with another nonce.
    @Test(arguments: CipherAlgorithm.allCases) func aRecordGetsAnotherPlace(_ algorithm: CipherAlgorithm) throws {
        let log = LogIdentity(seed: 1, salt: 2)
        func form(_ segment: UInt32) -> RecordForm {
            let cipher = AuthenticatedCipher(key: log.segmentKey(segment, of: TrialKeys.one), algorithm)
            return RecordForm(seed: 1, sealing: RecordSealing([cipher]))
        }
        var generator = SeededGenerator(seed: 3)
        let archive = generator.bytes(5_000)
        var draft = try RecordDraft.entry(
            key: [1, 2, 3],
            hash: 1 << 40,
            isSealed: true,
            attributes: EntryAttributes(storedAt: .distantPast),
            archive: archive,
            dictionary: nil,
            compression: .stored
        )
        let places = [RecordPlace(segment: 1, offset: 80), RecordPlace(segment: 2, offset: 500)]
        var written: [[UInt8]] = []
        for place in places {
            draft.setPlace(place, in: form(place.segment), previous: nil) { .random(FileLayer()) }
            written.append(draft.content.joined)
        }
        #expect(written.allSatisfy { $0.count == draft.byteCount } && written[0][2..<14] != written[1][2..<14])
        for (bytes, place) in zip(written, places) {
            var opened = bytes
            let record = try Record(verifying: &opened, at: place, in: form(place.segment)) {
                $0.hasSoundPayload($1, dictionary: nil)
            }
            #expect(record.key == [1, 2, 3] && record.byteCount == bytes.count)
            // A stream of one stored block.
            #expect(Array(opened[record.payloadRange].dropFirst(7).dropLast(4)) == archive)
            for other in [
                RecordPlace(segment: place.segment, offset: 81), RecordPlace(segment: 9, offset: place.offset),
            ] {
                #expect(throws: RecordFault.damaged) { try Record(head: bytes, at: other, in: form(other.segment)) }
            }
            for count in 0..<bytes.count {
                #expect(throws: RecordFault.incomplete) {
                    var short = Array(bytes[..<count])
                    _ = try Record(verifying: &short, at: place, in: form(place.segment)) { _, _ in true }
                }
            }
        }
    }

    // MARK: Memory

    #if os(Linux)
        /// After a store was closed, neither its key nor that of a segment is anywhere in the memory of the process, which
        /// runs nothing else.
        @Test func noKeyIsLeftInMemory() async {
            await #expect(processExitsWith: .success) {
                let salt = UInt8.random(in: 1 ... .max)
                // Made each time that it is needed, so that the test keeps no copy.
                @Sendable func fill(_ key: UnsafeMutableRawBufferPointer) {
                    for index in key.indices { key[index] = UInt8(index) &* 37 &+ salt }
                }
                try withTemporaryDirectory { path in
                    let provider = KeyProvider {
                        guard let key = SealingKey(identifier: 1, SecretBytes(count: 32, fill)) else {
                            throw CancellationError()
                        }
                        return SealingKeys(current: key)
                    }
                    let store = try SealedFolder.open(path, provider)
                    try store.save([1], forKey: "a", storedAt: .now, expiresAt: nil)
                    let fields = ByteReader(try readFile(path + "/00000001.segment"))
                    let log = LogIdentity(seed: fields.number(at: 16), salt: fields.number(at: 60))
                    func fillBySegment(_ key: UnsafeMutableRawBufferPointer) {
                        guard let master = SealingKey(identifier: 1, SecretBytes(count: 32, fill)) else { return }
                        log.segmentKey(1, of: master).withUnsafeBytes { key.copyMemory(from: $0) }
                    }
                    #expect(try ProcessMemory.count(fill) > 0)
                    #expect(try ProcessMemory.count(fillBySegment) > 0)
                    try store.close()
                    #expect(try ProcessMemory.count(fill) == 0)
                    #expect(try ProcessMemory.count(fillBySegment) == 0)
                }
            }
        }
    #endif

    // MARK: Nonces

    /// No nonce is used twice by threads, by stores of one folder, or after a restored backup.
    @Test func noNonceIsUsedTwice() throws {
        try withTemporaryDirectory { path in
            var nonces: [[UInt8]] = []
            func collect(_ folder: String, from start: Int) throws {
                let store = try SealedFolder.open(folder)
                for number in start..<start + 500 {
                    let range = try SealedFolder.range(of: "\(number)", in: store)
                    let bytes = try readFile(folder + "/" + range.file)[range.bytes]
                    nonces.append(Array(bytes.dropFirst(2).prefix(12)))
                }
            }
            let stores = try (0..<2).map { _ in try SealedFolder.open(path + "/cache") }
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in 0..<125 {
                    try? stores[thread % 2].save(
                        [1],
                        forKey: "\(thread * 125 + number)",
                        storedAt: .now,
                        expiresAt: nil
                    )
                }
            }
            for store in stores { try store.close() }
            try collect(path + "/cache", from: 0)
            let backup = try SealedFolder.files(path + "/cache")
            for folder in ["a", "b"] {
                try SealedFolder.write(backup, to: path + "/" + folder)
                let store = try SealedFolder.open(path + "/" + folder)
                for number in 500..<1_000 {
                    try store.save([2], forKey: "\(number)", storedAt: .now, expiresAt: nil)
                }
                try collect(path + "/" + folder, from: 500)
            }
            #expect(nonces.count == 1_500 && Set(nonces).count == 1_500)
            #expect(nonces.allSatisfy { $0[11] & 1 == 0 })
        }
    }
}
