import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCacheTesting

/// Reads the server's form, and writes its own.
private struct Flat: CachedModel {
    static let modelName = "flat"
    let id: Int
    var city: String

    private enum CodingKeys: String, CodingKey { case id, city }
    private enum ServerKeys: String, CodingKey { case id, attributes }
    private enum AttributeKeys: String, CodingKey { case city }

    init(id: Int, city: String) { (self.id, self.city) = (id, city) }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ServerKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        city = try container.nestedContainer(keyedBy: AttributeKeys.self, forKey: .attributes)
            .decode(String.self, forKey: .city)
    }
    static func request(for id: Int) -> ModelRequest { .get("/flat", id) }
}

/// Writes less than it reads.
private struct Forgetful: CachedModel {
    static let modelName = "forgetful"
    let id: Int
    var count: Int

    init(id: Int, count: Int) { (self.id, self.count) = (id, count) }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        count = try container.decode(Int.self, forKey: .count) + 1
    }
    private enum CodingKeys: String, CodingKey { case id, count }
    static func request(for id: Int) -> ModelRequest { .get("/forgetful", id) }
}

/// Has a field that is not encoded, and a set.
private struct Sound: CachedModel {
    static let modelName = "sound"
    let id: Int
    var words: Set<String> = ["a", "b", "c", "d"]
    var isOpen = false
    private enum CodingKeys: String, CodingKey { case id, words }
    static func request(for id: Int) -> ModelRequest { .get("/sound", id) }
}

/// Has a number that equals nothing.
private struct Share: CachedModel {
    static let modelName = "share"
    let id: Int
    var share = Double.nan
    static func request(for id: Int) -> ModelRequest { .get("/share", id) }
}

/// Types that do not decode what they encode.
@Suite struct CodingTrialTests {
    private func failures(saving models: [any CachedModel], inMemory: Bool) async throws -> [ModelCacheError] {
        let (failures, directory) = (Failures(), try TemporaryDirectory())
        let types: [any CachedModel.Type] = [Flat.self, Forgetful.self, Sound.self, Share.self]
        let report: @Sendable (ModelCacheError) -> Void = { failures.add($0) }
        let cache =
            inMemory
            ? try await Models.inMemory(types: types, transport: nil, onFailure: report)
            : try await Models(
                account: "1",
                types: types,
                directory: directory.url,
                transport: nil,
                onFailure: report
            )
        func save(_ model: some CachedModel) async throws { try await cache.save(model) }
        for model in models { try await save(model) }
        try await cache.close()
        return failures.all
    }

    #if DEBUG
        @Test(arguments: [false, true]) func aTypeThatFlattensTheServersFormIsReportedOnce(inMemory: Bool)
            async throws
        {
            let models = (1...3).map { Flat(id: $0, city: "secret") }
            let failures = try await failures(saving: models, inMemory: inMemory)
            #expect(failures.map(\.code) == [.invalidModel])
            #expect(failures.first?.subject?.modelName == "flat")
            let message = try #require(failures.first?.message)
            #expect(message.hasPrefix("Flat does not decode what it encodes (no member attributes"), "\(message)")
            #expect(!message.contains("secret"))
        }

        @Test func aTypeThatDecodesAnotherValueIsReported() async throws {
            let failures = try await failures(saving: [Forgetful(id: 1, count: 1)], inMemory: true)
            #expect(failures.map(\.code) == [.invalidModel])
            #expect(failures.first?.message.hasPrefix("Forgetful does not") == true)
        }
    #endif

    @Test func aTypeThatDecodesWhatItEncodesIsNotReported() async throws {
        let models: [any CachedModel] = [Sound(id: 1, isOpen: true), Share(id: 1)]
        #expect(try await failures(saving: models, inMemory: false).isEmpty)
    }
}
