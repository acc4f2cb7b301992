import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The volume of the simulation by itself: each test uses it through the layer that the stores use.
@Suite struct SimulatedVolumeTests {
    /// A volume with the directory `/d`, which is open.
    private final class Bench {
        let volume: SimulatedVolume
        let stage: VolumeStage
        let layer: FileLayer
        let directory: Directory

        init(capacity: Int = 1 << 20, namesAreOrdered: Bool = true) throws {
            volume = SimulatedVolume(capacity: capacity, namesAreOrdered: namesAreOrdered)
            volume.makeDirectories("/d")
            volume.synchronizeAll()
            stage = VolumeStage(volume, directory: "/d", seed: 1, isInterleaved: false)
            layer = stage.layer(of: stage.addActor())
            directory = try Directory(path: "/d", layer: layer)
        }

        /// The bytes of `/d/a` in the states that power failures leave.
        func states(_ order: PowerFailure.Order? = nil) -> Set<[UInt8]?> {
            Set(
                (0..<400).map { seed in
                    let copy = SimulatedVolume(copying: volume)
                    var failure = PowerFailure(seed: seed, order: order)
                    failure.strike(copy)
                    return copy.bytes(at: "/d/a")
                }
            )
        }
    }

    @Test func filesAndNamesAreAsCallsMadeThem() throws {
        let bench = try Bench()
        let file = try bench.directory.makeFile("a", access: O_RDWR)
        try file.write([1, 2, 3])
        try file.write([9], at: 5)
        #expect(try file.read(10, at: 0) == [1, 2, 3, 0, 0, 9])
        #expect(try file.byteCount() == 6)
        try bench.directory.rename("a", to: "b", in: bench.directory)
        #expect(try bench.directory.status("a") == nil)
        #expect(throws: SystemError.self) { _ = try bench.directory.makeFile("b") }
        try bench.directory.link("b", to: "c", in: bench.directory)
        #expect(try file.extent().linkCount == 2)
        var names: Set<String> = []
        try bench.directory.forEachName { names.insert($0).inserted }
        #expect(names == ["b", "c"])
        #expect(try bench.directory.remove("b"))
        #expect(try bench.directory.remove("c"))
        // Open without a name.
        #expect(try file.extent().linkCount == 0)
        #expect(try file.read(2, at: 1) == [2, 3])
        try file.truncate(to: 2)
        #expect(try file.read(10, at: 0) == [1, 2])
    }

    @Test func aFileNumberIsUsedAgain() throws {
        let bench = try Bench()
        func make() throws -> UInt64 { try bench.directory.makeFile("a").status().identity.number }
        let first = try make()
        try bench.directory.remove("a")
        bench.volume.synchronizeAll()
        #expect(try make() == first)
    }

    @Test func blocksAreCounted() throws {
        let bench = try Bench(capacity: 4)
        let file = try bench.directory.makeFile("a", access: O_RDWR)
        try file.write([UInt8](repeating: 1, count: 3 * 4_096))
        #expect(try bench.directory.freeByteCount() == 4_096)
        let other = try bench.directory.makeFile("b", access: O_RDWR)
        let error = #expect(throws: SystemError.self) { try other.write([UInt8](repeating: 1, count: 2 * 4_096)) }
        #expect(error?.number == ENOSPC)
        // As much as there was room for was written.
        #expect(try other.byteCount() == 4_096)
        try file.truncate(to: 2 * 4_096)
        try other.allocate(8_192)
        #expect(try bench.directory.freeByteCount() == 0)
        // The blocks of an open file stay until it is closed.
        try bench.directory.remove("a")
        #expect(try bench.directory.freeByteCount() == 0)
        try file.closeChecked()
        #expect(try bench.directory.freeByteCount() == 2 * 4_096)
    }

    @Test func aLockShutsOutOtherOpenFiles() throws {
        let bench = try Bench()
        let other = try Directory(path: "/d", layer: bench.layer)
        try bench.directory.lock()
        let error = #expect(throws: SystemError.self) { try other.file.lock(waits: false) }
        #expect(error?.isLockedByOthers == true)
        #expect(try other.file.isLockedByOthers())
        try bench.directory.unlock()
        try other.file.lock(waits: false)
    }

    @Test func bytesThatWereWaitedForStay() throws {
        let bench = try Bench()
        let file = try bench.directory.makeFile("a", access: O_RDWR)
        try file.write([1, 2, 3])
        // The bytes are on the device, the name may not be.
        try file.synchronize()
        #expect(bench.states() == [nil, [1, 2, 3]])
        try bench.directory.synchronize()
        #expect(bench.states() == [[1, 2, 3]])
    }

    @Test func otherBytesMayBeMissingInAnyWay() throws {
        let bench = try Bench()
        let file = try bench.directory.makeFile("a", access: O_RDWR)
        let old = [UInt8](repeating: 1, count: 100)
        try file.write(old)
        try file.synchronize()
        try bench.directory.synchronize()
        for _ in 0..<3 { try file.write([UInt8](repeating: 2, count: 4_096)) }
        let states = bench.states(.blocks).compactMap { $0 }
        #expect(states.allSatisfy { $0.starts(with: old) }, "a wait had brought the first bytes to the device")
        #expect(states.contains { $0.count == 100 }, "nothing more is there")
        #expect(states.contains { $0.count == 100 + 3 * 4_096 && !$0.contains(0) }, "all is there")
        // The length comes ahead of the bytes, and a later block ahead of a former one.
        #expect(states.contains { $0.count > 100 && $0[100] != 2 })
        #expect(states.contains { $0.count > 9_000 && $0[5_000] != 2 && $0[9_000] == 2 })
        let prefixes = bench.states(.prefix).compactMap { $0 }
        #expect(prefixes.allSatisfy { $0.dropFirst(100).allSatisfy { $0 == 2 } })
        #expect(Set(prefixes.map(\.count)).count > 3)
    }

    @Test func bytesOfAFailedWaitMayBeMissingAfterALaterOne() throws {
        let bench = try Bench()
        let file = try bench.directory.makeFile("a", access: O_RDWR)
        try bench.directory.synchronize()
        try file.write([1, 2, 3])
        let id = try #require(bench.volume.find("/d/a"))
        bench.volume.failWait(of: id)
        #expect(try file.read(3, at: 0) == [1, 2, 3])
        try file.synchronize()
        #expect(bench.states().count > 1)
        // Written again, they are waited for.
        try file.write([1, 2, 3], at: 0)
        try file.synchronize()
        #expect(bench.states() == [[1, 2, 3]])
    }

    @Test(arguments: [true, false]) func namesReachTheDeviceInTheirOrder(_ namesAreOrdered: Bool) throws {
        let bench = try Bench(namesAreOrdered: namesAreOrdered)
        for name in ["a", "b"] { try bench.directory.makeFile(name).closeChecked() }
        var states: Set<[String]> = []
        for seed in 0..<400 {
            let copy = SimulatedVolume(copying: bench.volume)
            var failure = PowerFailure(seed: seed)
            failure.strike(copy)
            states.insert(copy.names(at: "/d").sorted())
        }
        let all: Set<[String]> = [[], ["a"], ["b"], ["a", "b"]]
        #expect(states == (namesAreOrdered ? all.subtracting([["b"]]) : all))
    }
}
