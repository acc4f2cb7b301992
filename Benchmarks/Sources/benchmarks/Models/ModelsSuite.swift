import BenchmarkKit
import Foundation
import ModelCache
import TypedCache

/// An app's work with models: merging answers, reading lists, changing one model, starting.
struct ModelsSuite: Suite {
    static let name = "models"
    static let summary = "models and lists of an app, beside files of JSON and SQLite"

    func run(_ context: Context) throws {
        try FirstScreenRun().run(context)
        try OfferRuns().run(context)
        try GrownListRun().run(context)
        try ModelMemoryRun().run(context)
        try merge(context)
        try mergeDecoded(context)
        try readList(context)
        try changeOne(context)
        try tell(context)
        try start(context)
        try confirm(context)
        try KeptModels().run(context)
    }

    private func open(_ folder: URL, _ server: (any ModelTransport)? = nil) throws -> Models {
        try wait {
            try await Models(
                account: "benchmark",
                types: [Product.self, Maker.self],
                directory: folder,
                transport: server
            )
        }
    }

    // MARK: Works

    /// An answer of 1,000 models and the list of them, over one that is there.
    private func merge(_ context: Context) throws {
        let servers = try (0..<2).map { try ProductServer(lists: ["all": 0..<1_000], version: $0) }
        let models = try open(context.makeFolder("merge"), SwitchingServer(servers))
        let bodies = try (0..<2).map { version in
            try JSONEncoder().encode((0..<1_000).map { Product.make($0, version: version) })
        }
        // The caller of ModelCache waits for the decoding and the merge in memory, or for the disk as well; the databases'
        // caller waits for the decoding, which is `JSONDecoder`'s there, and for the transaction.
        try compareMerges("merge an answer of 1,000 models and their list", into: models, in: context) { _ in
            _ = try await models.fetch(ProductList(name: "all"), .reload)
        } products: { index in
            try JSONDecoder().decode([Product].self, from: bodies[index % 2])
        }
    }

    /// 1,000 models that are decoded already, and the list of them: the same without the reading of JSON, which takes
    /// most of the time and is the same for all.
    private func mergeDecoded(_ context: Context) throws {
        let models = try open(context.makeFolder("merge-decoded"), ProductServer(lists: [:]))
        let products = (0..<2).map { version in (0..<1_000).map { Product.make($0, version: version) } }
        try compareMerges("merge 1,000 decoded models and their list", into: models, in: context) { index in
            _ = try await models.fetch(DecodedList(name: "all", products: products[index % 2]), .reload)
        } products: { index in
            products[index % 2]
        }
    }

    /// - Parameters:
    ///   - models: is closed.
    ///   - fetch: has `models` merge an answer, and returns when the caller has it.
    ///   - products: returns the models of an answer, for SQLite.
    private func compareMerges(
        _ work: String,
        into models: Models,
        in context: Context,
        fetch: @escaping @Sendable (_ index: Int) async throws -> Void,
        products: @escaping (_ index: Int) throws -> [Product]
    ) throws {
        var subjects = [
            // One merge for each sample: the next one would wait for the disk to take this one.
            Subject(
                "ModelCache, until the caller has them",
                isOurs: true,
                limit: 1,
                cleanup: { try wait { await models.flush() } },
                operation: { index in try wait { try await fetch(index) } }
            ),
            Subject("ModelCache, until they are on disk", isOurs: true) { index in
                try wait {
                    try await fetch(index)
                    await models.flush()
                }
            },
        ]
        #if SQLITE
            subjects += try SQLiteModels.subjects(in: context) { database, index in
                try database.save(products(index), list: "all")
            }
        #endif
        try context.compare(work: work, subjects: subjects)
        try wait { try await models.close() }
    }

    /// A list of 100 models: of a cache and a database that are open, and of ones that are opened for it. A cache that is
    /// open has the list in memory, or all of it on disk.
    private func readList(_ context: Context) throws {
        let count = 100
        let server = try ProductServer(lists: ["all": 0..<count])
        /// A folder with the list in it, and the cache that has written it.
        func fill(_ name: String) throws -> (folder: URL, models: Models) {
            let folder = try context.makeFolder(name)
            let models = try open(folder, server)
            try wait {
                _ = try await models.fetch(ProductList(name: "all"))
                await models.flush()
            }
            return (folder, models)
        }
        let models = try fill("list").models
        let folders = try ["list-disk", "list-opened"].map { name in
            let (folder, models) = try fill(name)
            try wait { try await models.close() }
            return folder
        }
        let stored = try open(folders[0])
        var subjects = [
            // Many reads for one wait, which takes longer than a read.
            Subject.batch("ModelCache, in memory", isOurs: true) { indices in
                let read = try wait {
                    var read = 0
                    for _ in indices {
                        read += try await models.stored(ProductList(name: "all"))?.elements.count ?? 0
                    }
                    return read
                }
                guard read == count * indices.count else { throw BenchmarkError("models are missing") }
                blackHole(read)
            },
            // One read for each sample: the next one would find the list in memory.
            Subject(
                "ModelCache, from disk",
                isOurs: true,
                limit: 1,
                prepare: { _ in stored.trimMemory(toCount: 0) },
                operation: { _ in
                    let list = try wait { try await stored.stored(ProductList(name: "all")) }
                    guard list?.elements.count == count else { throw BenchmarkError("models are missing") }
                    return list
                }
            ),
            Subject("ModelCache, opened, from disk", isOurs: true) { _ in
                let opened = try open(folders[1])
                let list = try wait { try await opened.stored(ProductList(name: "all")) }
                guard list?.elements.count == count else { throw BenchmarkError("models are missing") }
                return list
            },
        ]
        #if SQLITE
            subjects += try SQLiteModels.subjects(in: context) { database in
                try database.save((0..<count).map { Product.make($0) }, list: "all")
            } operation: { database, _ in
                let products = try database.list("all")
                guard products.count == count else { throw BenchmarkError("models are missing") }
                return products
            }
            subjects += try SQLiteModels.openedSubjects(in: context) { database in
                try database.save((0..<count).map { Product.make($0) }, list: "all")
            } operation: { database in
                let products = try database.list("all")
                guard products.count == count else { throw BenchmarkError("models are missing") }
                return products
            }
        #endif
        try context.compare(work: "read a list of 100 models", subjects: subjects)
        try wait {
            try await models.close()
            try await stored.close()
        }
    }

    /// One model that is in many lists.
    private func changeOne(_ context: Context) throws {
        for lists in [1, 100, 1_000] {
            let server = try ProductServer(
                lists: Dictionary(uniqueKeysWithValues: (0..<lists).map { ("\($0)", 0..<20) })
            )
            let models = try open(context.makeFolder("change-\(lists)"), server)
            try wait {
                for list in 0..<lists { _ = try await models.fetch(ProductList(name: "\(list)")) }
                await models.flush()
            }
            try context.compare(
                work: "save one model that is in lists",
                parameters: ["lists": "\(lists)"],
                subjects: [
                    Subject("ModelCache", isOurs: true) { index in
                        try wait { try await models.save(Product.make(7, version: index)) }
                    }
                ]
            )
            try wait { try await models.close() }
        }
    }

    /// The time from a change until the observer of a list has the snapshot; the disk gets the change later.
    private func tell(_ context: Context) throws {
        let models = try open(context.makeFolder("tell"), ProductServer(lists: ["all": 0..<20]))
        let count = context.isQuick ? 200 : 2_000
        let samples = try wait {
            _ = try await models.fetch(ProductList(name: "all"))
            let updates = models.updates(of: ProductList(name: "all")).makeAsyncIterator()
            _ = await updates.next(isolation: nil)
            var samples: [Double] = []
            for version in 1...count {
                let saving = Task {
                    let begun = ContinuousClock.now
                    try await models.save(Product.make(7, version: version))
                    return begun
                }
                let snapshot = await updates.next(isolation: nil)
                let told = ContinuousClock.now
                guard snapshot??.elements[7].stock == Product.make(7, version: version).stock else {
                    throw BenchmarkError("an observer was told of another change")
                }
                samples.append(try await (told - saving.value) / .microseconds(1))
            }
            return samples
        }
        context.value(
            work: "tell the observer of a list of 20 of a changed element",
            subject: "ModelCache",
            isOurs: true,
            unit: "µs",
            samples: samples
        )
        try wait { try await models.close() }
    }

    /// From opening the account to the first list of 20 with its makers.
    private func start(_ context: Context) throws {
        for count in context.isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000] {
            let folder = try context.makeFolder("start-\(count)")
            let server = try ProductServer(lists: ["first": 0..<20])
            let models = try open(folder, server)
            try wait {
                for first in stride(from: 0, to: count, by: 1_000) {
                    try await models.save((first..<first + 1_000).map { Product.make($0) })
                }
                try await models.save((0..<40).map { Maker(id: $0, name: "Maker \($0)") })
                _ = try await models.fetch(ProductList(name: "first"))
                try await models.close()
            }
            var kept: [Models] = []
            try context.compare(
                work: "open and read the first list of 20 with their makers",
                parameters: ["models": "\(count)"],
                subjects: [
                    Subject("ModelCache", isOurs: true, limit: 1, cleanup: { kept = [] }) { _ in
                        let opened = try open(folder)
                        kept.append(opened)
                        let found = try wait {
                            guard let list = try await opened.stored(ProductList(name: "first")) else { return 0 }
                            let makers = try await opened.stored(Maker.self, ids: list.elements.map(\.maker.id))
                            return list.elements.count + makers.count
                        }
                        guard found == 40 else { throw BenchmarkError("models are missing") }
                        return found
                    }
                ]
            )
        }
    }

    /// A list of 100 that the server calls unchanged.
    private func confirm(_ context: Context) throws {
        let server = try ProductServer(lists: ["all": 0..<100], tag: "\"1\"")
        let models = try open(context.makeFolder("confirm"), server)
        try wait { _ = try await models.fetch(ProductList(name: "all")) }
        try context.compare(
            work: "have a list of 100 models confirmed (304)",
            subjects: [
                Subject("ModelCache", isOurs: true) { _ in
                    try wait { _ = try await models.fetch(ProductList(name: "all"), .reload) }
                }
            ]
        )
        try wait { try await models.close() }
    }
}

/// Two servers in turns, so that each answer changes all models.
private actor SwitchingServer: ModelTransport {
    private let servers: [ProductServer]
    private var next = 0

    init(_ servers: [ProductServer]) { self.servers = servers }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        next += 1
        return try await servers[next % servers.count].send(request)
    }
}
