import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A packed store with a file in which one byte is changed or from whose end bytes are missing.
///
/// No damage gives a key a value other than its last one: neither an older value nor the value of a removed entry. One
/// exception: a segment whose end is missing, or a damaged head of the last record, reads as if the records there had never
/// come, unless a snapshot knows of them. `TYPED_CACHE_EXHAUSTIVE=1` tries every byte and
/// every length.
@Suite struct PackedDamageTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["TYPED_CACHE_EXHAUSTIVE"] == "1"
    private static let masks: [UInt8] = [0x01, 0x20, 0x80, 0xff]

    @Test(arguments: variants(PackedDirectory.Snapshot.allCases, at: 0))
    func aChangedByteCostsOneEntryAtMost(snapshot: PackedDirectory.Snapshot) throws {
        let directory = try PackedDirectory(snapshot)
        var random = SeededGenerator(seed: 1)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for (name, bytes) in directory.files {
                let sample = name == "format" ? bytes.count : name == "index" ? 10 : 2
                let positions =
                    Self.isExhaustive
                    ? Array(bytes.indices)
                    : (0..<sample).map { _ in bytes.indices.randomElement(using: &random) ?? 0 }
                for position in positions + (name == directory.segments.last ? directory.lastRecord(every: 16) : [])
                {
                    for mask in Self.isExhaustive ? Self.masks : [Self.masks.randomElement(using: &random) ?? 1] {
                        var damaged = bytes
                        damaged[position] ^= mask
                        try directory.write(to: path, changing: name, to: damaged)
                        let place: Comment = "\(snapshot), \(name), byte \(position) ^ \(mask)"
                        try check(directory, at: path, file: name, position: position, place)
                    }
                }
            }
        }
    }

    private func check(
        _ directory: PackedDirectory,
        at path: String,
        file name: String,
        position: Int,
        _ place: Comment
    ) throws {
        if name == "format" {
            guard let store = try opened(path) else { return }
            #expect(directory.differences(try directory.answers(store, place), from: directory.values) == [], place)
            return
        }
        let store = try PackedDirectory.open(path)
        let answers = try directory.answers(store, place)
        let touched = directory.steps.filter { $0.file == name && $0.bytes.contains(position) }.map(\.key)
        var values = directory.values
        if directory.isAtEnd(name, position), answers.values.allSatisfy({ $0 != .damaged }) {
            // As if the last record had never come.
            values = directory.values(upTo: directory.steps.last?.bytes.lowerBound ?? 0)
        }
        let differences = directory.differences(answers, from: values)
        #expect(differences.isSubset(of: touched), place)
        #expect(directory.wrong(answers, than: values) == [], place)
        try checkAfterwards(directory, at: path, former: answers, values: values, place)
    }

    /// How the log goes on after damaged records.
    enum Ending: CaseIterable {
        /// By the last record as it was.
        case whole
        /// By a record that is not there to its end.
        case cutRecord
        /// By blocks that never reached the device.
        case zeros
    }

    /// Several records in a row that are damaged at the end of the log cost nothing before them. Nothing tells their keys, which
    /// may have their former values.
    @Test(arguments: [PackedDirectory.Snapshot.stale, .none], Ending.allCases)
    func damageAtTheEndCostsNothingBefore(snapshot: PackedDirectory.Snapshot, ending: Ending) throws {
        let directory = try PackedDirectory(snapshot)
        let (damaged, last) = (directory.steps.suffix(3).dropLast(), try #require(directory.steps.last))
        let first = try #require(damaged.first)
        var random = SeededGenerator(seed: 1)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for round in 0..<4 {
                var bytes = try #require(directory.files[last.file])
                for step in damaged {
                    let heads = step.bytes.lowerBound..<step.bytes.lowerBound + RecordHead.startByteCount
                    bytes[Int.random(in: heads, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
                }
                switch ending {
                case .whole: break
                case .cutRecord: bytes = Array(bytes[..<Int.random(in: last.bytes, using: &random)])
                case .zeros: bytes.replaceSubrange(last.bytes, with: repeatElement(0, count: last.bytes.count))
                }
                try directory.write(to: path, changing: last.file, to: bytes)
                let place: Comment = "\(snapshot), \(ending), round \(round)"
                let store = try PackedDirectory.open(path)
                let answers = try directory.answers(store, place)
                let former = directory.values(upTo: first.bytes.lowerBound)
                let touched = Set(damaged.map(\.key) + [last.key])
                #expect(directory.differences(answers, from: directory.values).isSubset(of: touched), place)
                #expect(directory.wrong(answers, than: directory.values, or: former) == [], place)
                _ = consume store
                try checkAfterwards(
                    directory,
                    at: path,
                    former: answers,
                    values: directory.values,
                    or: former,
                    place
                )
            }
        }
    }

    /// The entries that were removed together do not come back, also where the process was killed before it removed their
    /// segments, and the first record after that is damaged.
    @Test func nothingComesBackThatWasRemovedWithAll() throws {
        let directory = try PackedDirectory(.none)
        try withTemporaryDirectory(inMemory: true) { path in
            let former = path + "/former"
            try directory.write(to: path + "/cache")
            do {
                let store = try PackedDirectory.open(path + "/cache")
                try store.removeAll()
                try store.save([1], forKey: "one", storedAt: .now, expiresAt: nil)
                try store.close()
            }
            try FileManager.default.moveItem(atPath: path + "/cache", toPath: former)
            let file = try #require(
                FileManager.default.contentsOfDirectory(atPath: former).first { $0.hasSuffix("segment") }
            )
            for isKilled in [false, true] {
                for byte in 0..<RecordHead.startByteCount {
                    let place: Comment = "byte \(byte), \(isKilled ? "killed" : "whole")"
                    let cache = path + "/cache"
                    try? FileManager.default.removeItem(atPath: cache)
                    try FileManager.default.copyItem(atPath: former, toPath: cache)
                    try? FileManager.default.removeItem(atPath: cache + "/index")
                    if isKilled {
                        for name in directory.segments {
                            try writeFile(directory.files[name] ?? [], cache + "/" + name)
                        }
                    }
                    var bytes = try readFile(cache + "/" + file)
                    let segment = try #require(Segment.number(file))
                    bytes[try SegmentHeader(bytes, number: segment).byteCount + byte] ^= 4
                    try writeFile(bytes, cache + "/" + file)
                    var keys: Set<String> = []
                    for number in 0..<2 {
                        let store = try PackedDirectory.open(cache)
                        // The damaged record counts as an entry until another segment begins.
                        let count = try store.statistics().entryCount
                        #expect(count == keys.count || number == 0 && count == 1, place)
                        #expect(try store.keys() == keys, place)
                        try store.save([2], forKey: "new \(number)", storedAt: .now, expiresAt: nil)
                        keys.insert("new \(number)")
                        try store.close()
                        try? FileManager.default.removeItem(atPath: cache + "/index")
                    }
                }
            }
        }
    }

    /// `nil` if it is not taken as a store's.
    private func opened(_ path: String) throws -> PackedStore? {
        do {
            return try PackedDirectory.open(path)
        } catch let error as StoreError {
            #expect([.invalidDirectory, .unsupportedVersion].contains(error.code))
            return nil
        }
    }

    /// The store can still be used, with its old content, with or without its index.
    private func checkAfterwards(
        _ directory: PackedDirectory,
        at path: String,
        former: [String: PackedDirectory.Answer],
        values: [String: [UInt8]],
        or older: [String: [UInt8]] = [:],
        _ place: Comment
    ) throws {
        do {
            let store = try PackedDirectory.open(path)
            #expect(
                try directory.answers(store, place) == former.mapValues { $0 == .damaged ? .nothing : $0 },
                place
            )
            try store.save([7], forKey: "new", storedAt: .now, expiresAt: nil)
        }
        try? FileManager.default.removeItem(atPath: path + "/index")
        let store = try PackedDirectory.open(path)
        #expect(try store.fetch(forKey: "new")?.archive == [7], place)
        #expect(directory.wrong(try directory.answers(store, place), than: values, or: older) == [], place)
    }

    @Test(arguments: variants(PackedDirectory.Snapshot.allCases, at: 1))
    func aShorterFileCostsWhatWasCutOff(snapshot: PackedDirectory.Snapshot) throws {
        let directory = try PackedDirectory(snapshot)
        var random = SeededGenerator(seed: 2)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for (name, bytes) in directory.files {
                let isLast = name == directory.segments.last
                let some = isLast ? isLongRun ? 12 : 2 : isLongRun ? 3 : 1
                let lengths =
                    Self.isExhaustive
                    ? Array(bytes.indices)
                    : [0, bytes.count - 1]
                        + (0..<some).map { _ in bytes.indices.randomElement(using: &random) ?? 0 }
                let ends = isLast && !Self.isExhaustive ? directory.lastRecord(every: isLongRun ? 3 : 24) : []
                for length in lengths + ends {
                    try directory.write(to: path, changing: name, to: Array(bytes[..<length]))
                    let place: Comment = "\(snapshot), \(name), \(length) bytes"
                    guard let store = try name == "format" ? opened(path) : PackedDirectory.open(path) else {
                        continue
                    }
                    let answers = try directory.answers(store, place)
                    var values = directory.values
                    if isLast, !directory.isBehindSnapshot(name, length) { values = directory.values(upTo: length) }
                    let former =
                        isLast ? [:] : directory.values(withoutEndOf: name, from: length)
                    if !isLast, snapshot == .none { values = former }
                    let differences = directory.differences(answers, from: values)
                    #expect(directory.wrong(answers, than: values, or: former) == [], place)
                    if !name.hasSuffix("segment") || snapshot == .none {
                        #expect(differences == [], place)
                    } else if snapshot == .fresh {
                        let touched = directory.steps.filter { $0.file == name && $0.bytes.upperBound > length }
                        #expect(differences.isSubset(of: touched.map(\.key)), place)
                    }
                    if name.hasSuffix("segment") {
                        _ = consume store
                        try checkAfterwards(
                            directory,
                            at: path,
                            former: answers,
                            values: values,
                            // Without the index, the entries of the file are left.
                            or: isLast ? directory.values(upTo: length) : former,
                            place
                        )
                    }
                }
            }
        }
    }

    /// A record that was cut off may have the length of a seal.
    @Test func aRecordThatWasCutOffIsNoSeal() throws {
        let directory = try PackedDirectory(.none)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let cut = directory.steps.filter {
                $0.file != directory.segments.last && $0.bytes.count > Record.leastByteCount
            }
            for step in cut.enumerated().filter({ $0.offset % 9 == 0 }).map(\.element) {
                let whole = try #require(directory.files[step.file])
                let length = step.bytes.lowerBound + Record.leastByteCount
                try directory.write(to: path, changing: step.file, to: Array(whole[..<length]))
                let place: Comment = "\(step.file), \(length) bytes"
                let answers = try directory.answers(PackedDirectory.open(path), place)
                // Only the records that are missing are.
                let values = directory.values(withoutEndOf: step.file, from: length)
                #expect(directory.differences(answers, from: values) == [], place)
            }
        }
    }

    @Test(arguments: variants(PackedDirectory.Snapshot.allCases, at: 2))
    func aMissingFileBringsNothingBack(snapshot: PackedDirectory.Snapshot) throws {
        let directory = try PackedDirectory(snapshot)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for name in directory.files.keys where name != "format" {
                try directory.write(to: path, changing: name, to: nil)
                let place: Comment = "\(snapshot) without \(name)"
                let answers = try directory.answers(PackedDirectory.open(path), place)
                var values = directory.values
                if name == "index" { #expect(directory.differences(answers, from: values) == [], place) }
                // A log without its last segment reads as before that segment.
                if name == directory.segments.last { values = directory.values(upTo: 0) }
                #expect(directory.wrong(answers, than: values) == [], place)
                try checkAfterwards(directory, at: path, former: answers, values: values, place)
            }
        }
    }
}

extension PackedDirectory {
    /// The bytes of the last record, or some of them.
    func lastRecord(every distance: Int) -> [Int] {
        steps.last.map { Array(stride(from: $0.bytes.lowerBound, to: $0.bytes.upperBound, by: distance)) } ?? []
    }

    /// Whether a byte is in the last record, and the snapshot knows nothing of that.
    func isAtEnd(_ name: String, _ byte: Int) -> Bool {
        guard snapshot != .fresh, let last = steps.last else { return false }
        return last.file == name && last.bytes.contains(byte)
    }

    /// Whether the snapshot goes further than a place.
    func isBehindSnapshot(_ name: String, _ offset: Int) -> Bool {
        guard let position else { return false }
        return position.file > name || position.file == name && position.offset > offset
    }
}
