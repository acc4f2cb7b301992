import BenchmarkKit
import Foundation
import ModelCache
import TypedCache

/// Lists of offers read from disk, and answers of them, beside files of JSON and SQLite.
struct OfferRuns {
    private static let length = 100
    private static let listCount = 30
    private static let answerLength = 1_000

    func run(_ context: Context) throws {
        try read(context)
        try merge(context)
    }

    private static func ids(_ list: Int) -> Range<Int> { list * length..<(list + 1) * length }

    /// Lists of 100, each of other offers, in a process that has opened its store before. None is in memory.
    private func read(_ context: Context) throws {
        let count = context.isOnce ? 2 : Self.listCount
        let lists = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", Self.ids($0)) })
        let offers = (0..<count * Self.length).map { Offer.make($0) }
        let folder = try context.makeFolder("offers")
        let server = try OfferServer(lists: lists)
        try wait {
            let models = try await Models.offers(in: folder, server)
            for name in lists.keys { _ = try await models.fetch(OfferList(name: name)) }
            try await models.close()
        }
        let models = try wait { try await Models.offers(in: folder) }
        func checked(_ offers: [Offer]?) throws -> Int {
            guard let offers, offers.count == Self.length else { throw BenchmarkError("offers are missing") }
            return offers.count
        }
        let files = try OfferFiles(context.makeFolder("offers-json"))
        for (name, ids) in lists { try files.save(offers[ids], list: name) }
        var subjects = [
            // No list twice in a sample: the second time it would be in memory.
            Subject(
                "ModelCache",
                isOurs: true,
                limit: count,
                prepare: { _ in models.trimMemory(toCount: 0) },
                operation: { index in
                    let list = try wait { try await models.stored(OfferList(name: "\(index % count)")) }
                    return try checked(list?.elements)
                }
            ),
            Subject("a file of JSON") { try checked(files.list("\($0 % count)")) },
        ]
        #if SQLITE
            let rows = try OfferDatabase(context.makeFolder("offers-rows"), .json)
            let columns = try OfferDatabase(context.makeFolder("offers-columns"), .columns)
            for database in [rows, columns] { try database.save(offers, lists: lists) }
            subjects += [
                Subject("SQLite, a row of JSON") { try checked(rows.list("\($0 % count)")) },
                Subject("SQLite, columns by a row decoder") {
                    try checked(columns.list("\($0 % count)", by: .decoder))
                },
                Subject("SQLite, columns by hand") { try checked(columns.list("\($0 % count)", by: .hand)) },
            ]
        #endif
        try context.compare(work: "read a list of 100 offers from disk", processorTime: true, subjects: subjects)
        try wait { try await models.close() }
    }

    /// An answer of 1,000, decoded, merged and on disk; of an app's own, decoded, encoded and written.
    private func merge(_ context: Context) throws {
        let ids = 0..<Self.answerLength
        let bodies = try (0..<2).map { try OfferServer.json(ids, version: $0) }
        try merge("merge an answer of 1,000 offers, all changed, to disk", bodies, in: context)
        try merge("merge an answer of 1,000 offers, none changed, to disk", [bodies[0], bodies[0]], in: context)
    }

    private func merge(_ work: String, _ bodies: [Data], in context: Context) throws {
        let server = TurningServer(bodies)
        let folder = try context.makeFolder("offers-merged")
        let models = try wait { try await Models.offers(in: folder, server) }
        let files = try OfferFiles(context.makeFolder("offers-written"))
        func decoded(_ index: Int) throws -> [Offer] {
            try JSONDecoder().decode([Offer].self, from: bodies[index % bodies.count])
        }
        var subjects = [
            Subject("ModelCache", isOurs: true) { _ in
                try wait {
                    _ = try await models.fetch(OfferList(name: "all"), .reload)
                    await models.flush()
                }
            },
            Subject("a file of JSON") { try files.save(decoded($0)[...], list: "all") },
            Subject("the answer's bytes to a file") {
                try bodies[$0 % bodies.count].write(to: folder.appending(path: "bytes"), options: .atomic)
            },
        ]
        #if SQLITE
            for layout in OfferDatabase.Layout.allCases {
                let database = try OfferDatabase(context.makeFolder("offers-\(layout)"), layout)
                subjects.append(
                    Subject("SQLite, \(layout.rawValue)") {
                        try database.save(decoded($0), lists: ["all": 0..<Self.answerLength])
                    }
                )
            }
        #endif
        try context.compare(work: work, processorTime: true, subjects: subjects)
        try wait { try await models.close() }
    }
}

/// A file of JSON for each list, by Foundation.
struct OfferFiles {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    private func file(_ list: String) -> URL { folder.appending(path: "\(list).json") }

    func save(_ offers: ArraySlice<Offer>, list: String) throws {
        try JSONEncoder().encode(Array(offers)).write(to: file(list), options: .atomic)
    }

    func list(_ name: String) throws -> [Offer] {
        try JSONDecoder().decode([Offer].self, from: Data(contentsOf: file(name)))
    }
}

/// Answers in turns.
private actor TurningServer: ModelTransport {
    private let bodies: [Data]
    private var next = 0

    init(_ bodies: [Data]) { self.bodies = bodies }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        next += 1
        return ModelResponse(headers: [:], body: bodies[next % bodies.count])
    }
}
