import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache

/// Many writers and observers at once.
///
/// For half a second; for as many as the environment variable `TYPED_CACHE_SECONDS` says, if it is there.
@Suite struct CrowdTests {
    private static let duration = Duration.seconds(
        ProcessInfo.processInfo.environment["TYPED_CACHE_SECONDS"].flatMap(Double.init) ?? 0.5
    )

    /// Pairs of users have one name at any time: writers change both in one step, by each way in which there is one.
    @Test(arguments: [false, true]) func everyObserverSeesWholeStepsAndTheLastOne(onDisk: Bool) async throws {
        let stage = try Stage()
        let models = try await onDisk ? stage.open() : .inMemory(types: [User.self], transport: nil)
        let pairs = (0..<16).map { [2 * $0, 2 * $0 + 1] }
        func users(_ pair: [Int], _ name: String) -> [User] { pair.map { User(id: $0, name: name, bio: "b") } }
        for pair in pairs { try await models.save(users(pair, "first")) }
        let end = ContinuousClock.now.advanced(by: Self.duration)

        try await withThrowingTaskGroup(of: Void.self) { group in
            let observers = (0..<100).map { number in
                let pair = pairs[number % pairs.count]
                return Task {
                    var last: String?
                    for await snapshots in models.updates(of: User.self, ids: pair) {
                        let names = Set(snapshots.values.map(\.value.name))
                        #expect(names.count == 1 && snapshots.count == 2, "\(snapshots.mapValues(\.value.name))")
                        last = names.first
                        if last == "last" { break }
                    }
                    return last
                }
            }
            for (number, pair) in pairs.enumerated() {
                group.addTask {
                    var step = 0
                    while ContinuousClock.now < end {
                        step += 1
                        let name = "\(number).\(step)"
                        switch step % 3 {
                        case 0: try await models.save(users(pair, name))
                        case 1:
                            try await models.change { draft in
                                for user in users(pair, name) { draft.save(user) }
                            }
                        default:
                            // Shown, and taken away again every second time.
                            let isRefused = step.isMultiple(of: 2)
                            try? await models.change { draft in
                                for id in pair { draft.update(User.self, id: id) { $0.name = name } }
                            } sending: {
                                await Task.yield()
                                if isRefused { throw CancellationError() }
                            }
                        }
                    }
                    try await models.save(users(pair, "last"))
                }
            }
            try await group.waitForAll()
            for observer in observers { #expect(await observer.value == "last") }
        }
        for pair in pairs {
            let found = try await models.stored(User.self, ids: pair)
            #expect(found.values.map(\.value.name) == ["last", "last"])
        }
        #expect(models.observedCount == 0)
        try await models.close()
    }
}
