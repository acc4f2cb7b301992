import BenchmarkKit
import Foundation
import ModelCache
import TypedCache

/// The work of a new process until its first screen has its values, each way in a process of its own.
enum FirstScreen: String, CaseIterable {
    case models, json, rows, columns, hand
    case cache, file

    /// The first argument of such a process; the second is the way, the third the folder with everything.
    static let argument = "first-screen"
    static let list = "first"
    static let length = 100

    /// The ways that show a list with its sellers.
    static let lists: [FirstScreen] = [.models, .json, .rows, .columns, .hand]
    /// The ways that show one value.
    static let values: [FirstScreen] = [.cache, .file]

    var isOurs: Bool { self == .models || self == .cache }
    var needsSQLite: Bool { [.rows, .columns, .hand].contains(self) }

    var title: String {
        switch self {
        case .models: "ModelCache"
        case .json: "files of JSON"
        case .rows: "SQLite, a row of JSON"
        case .columns: "SQLite, columns by a row decoder"
        case .hand: "SQLite, columns by hand"
        case .cache: "Cache"
        case .file: "a file of JSON"
        }
    }

    // MARK: In the process

    /// Does the work, and prints nanoseconds since the process's own code began: the time and the processor time, and both
    /// of the opening.
    static func run(_ name: String, in folder: String) -> Int32 {
        let start = Moment()
        do {
            guard let way = FirstScreen(rawValue: name) else { throw BenchmarkError("there is no way \(name)") }
            let screen = try way.show(URL(filePath: folder, directoryHint: .isDirectory))
            print(start.figures(to: screen.shown) + " " + start.figures(to: screen.opened ?? screen.shown))
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(argument): \(error)\n".utf8))
            return 1
        }
    }

    private struct Moment {
        let time = MonotonicTime.nanoseconds()
        let processor = MonotonicTime.processorNanoseconds()

        func figures(to end: Moment) -> String { "\(Int(end.time - time)) \(Int(end.processor - processor))" }
    }

    /// The values of a screen, and their store, which a program keeps open as long as it runs.
    private struct Screen: Sendable {
        /// When the store was open, if it is ours.
        var opened: Moment?
        let shown = Moment()
        /// Not shared: the thread that has made it waits for nothing else.
        nonisolated(unsafe) let source: AnyObject?
        let values: [any Sendable]
    }

    private func show(_ folder: URL) throws -> Screen {
        switch self {
        case .models:
            return try wait {
                let models = try await Models.offers(in: folder)
                let opened = Moment()
                let offers = try await models.stored(OfferList(name: Self.list))?.elements ?? []
                let sellers = try await models.stored(Seller.self, ids: Set(offers.map(\.seller.id)))
                try Self.check(offers, sellers.count)
                return Screen(opened: opened, source: models, values: [offers, sellers])
            }
        case .json:
            let offers = try OfferFiles(folder).list(Self.list)
            let data = try Data(contentsOf: folder.appending(path: "sellers.json"))
            let sellers = try JSONDecoder().decode([Seller].self, from: data)
            try Self.check(offers, sellers.count)
            return Screen(source: nil, values: [offers, sellers])
        case .rows, .columns, .hand:
            #if SQLITE
                let layout: OfferDatabase.Layout = self == .rows ? .json : .columns
                let database = try OfferDatabase(folder.appending(path: layout.rawValue), layout)
                let offers = try database.list(Self.list, by: self == .hand ? .hand : .decoder)
                let sellers = try database.sellers(of: offers)
                try Self.check(offers, sellers.count)
                return Screen(source: database, values: [offers, sellers])
            #else
                throw BenchmarkError("there is no SQLite")
            #endif
        case .cache:
            let cache = try Cache<Offer>(name: "one", directory: folder)
            let opened = Moment()
            guard let offer = try cache.fetch(forKey: "1"), offer.id == 1 else {
                throw BenchmarkError("the offer is missing")
            }
            return Screen(opened: opened, source: cache, values: [offer])
        case .file:
            let data = try Data(contentsOf: folder.appending(path: "one.json"))
            let offer = try JSONDecoder().decode(Offer.self, from: data)
            guard offer.id == 1 else { throw BenchmarkError("the offer is missing") }
            return Screen(source: nil, values: [offer])
        }
    }

    private static func check(_ offers: [Offer], _ sellers: Int) throws {
        guard offers.count == length, sellers == Offer.sellerCount else {
            throw BenchmarkError("models are missing")
        }
    }
}

/// New processes to their first screens.
struct FirstScreenRun {
    func run(_ context: Context) throws {
        let count = context.isOnce ? 1_000 : context.isQuick ? 10_000 : 100_000
        let folder = try context.makeFolder("first-screen")
        try fill(folder, count)
        try compare(
            FirstScreen.lists,
            "show the first list of 100 offers with their sellers in a new process",
            parameters: ["offers": "\(count)"],
            in: folder,
            context: context
        )
        try compare(FirstScreen.values, "show one value in a new process", in: folder, context: context)
    }

    /// Stores offers in all ways, a list of some in the middle, and their sellers.
    private func fill(_ folder: URL, _ count: Int) throws {
        let ids = count / 2..<count / 2 + FirstScreen.length
        let sellers = (0..<Offer.sellerCount).map(Seller.make)
        let server = try OfferServer(lists: [FirstScreen.list: ids])
        try wait {
            let models = try await Models.offers(in: folder, server)
            for first in stride(from: 0, to: count, by: 1_000) {
                try await models.save((first..<first + 1_000).map { Offer.make($0) })
            }
            try await models.save(sellers)
            _ = try await models.fetch(OfferList(name: FirstScreen.list))
            try await models.close()
        }
        try OfferFiles(folder).save(ids.map { Offer.make($0) }[...], list: FirstScreen.list)
        try JSONEncoder().encode(sellers).write(to: folder.appending(path: "sellers.json"))
        let cache = try Cache<Offer>(name: "one", directory: folder)
        try cache.save(Offer.make(1), forKey: "1")
        try cache.close()
        try JSONEncoder().encode(Offer.make(1)).write(to: folder.appending(path: "one.json"))
        #if SQLITE
            for layout in OfferDatabase.Layout.allCases {
                let place = folder.appending(path: layout.rawValue)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                let database = try OfferDatabase(place, layout)
                try database.save((0..<count).map { Offer.make($0) }, lists: [FirstScreen.list: ids])
                try database.save(sellers)
            }
        #endif
    }

    /// The figures of one process, in nanoseconds.
    private struct Launch {
        let time, processor, opening, openingProcessor: Double
        /// From the process's start to its end, with the loader's work.
        let whole: Double

        init(_ way: FirstScreen, _ folder: URL, log: URL) throws {
            let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
            let arguments = [FirstScreen.argument, way.rawValue, folder.path]
            let process = try ChildProcess(executable, arguments, log: log)
            let figures = process.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard process.status == 0, figures.count == 4 else {
                throw BenchmarkError("\(way.title) ended with \(process.status): \(process.output)")
            }
            (time, processor, opening, openingProcessor) = (figures[0], figures[1], figures[2], figures[3])
            whole = process.processorTime / .nanoseconds(1)
        }
    }

    private func compare(
        _ ways: [FirstScreen],
        _ work: String,
        parameters: [String: String] = [:],
        in folder: URL,
        context: Context
    ) throws {
        context.progress(work)
        #if SQLITE
            let present = ways
        #else
            let present = ways.filter { !$0.needsSQLite }
        #endif
        let log = try context.makeFolder("launches").appending(path: "log")
        var launches = [[Launch]](repeating: [], count: present.count)
        // Once before, so that all files are in the system's page cache.
        for way in present { _ = try Launch(way, folder, log: log) }
        for round in 0..<context.rounds {
            // In turns, another one first each time.
            for turn in present.indices {
                let index = (round + turn) % present.count
                launches[index].append(try Launch(present[index], folder, log: log))
            }
        }
        context.compare(
            work: work,
            parameters: parameters,
            zip(present, launches).map { way, launches in
                TakenSamples(
                    way.title,
                    isOurs: way.isOurs,
                    nanoseconds: launches.map(\.time),
                    processorNanoseconds: launches.map(\.processor)
                )
            }
        )
        context.compare(
            work: "\(work), processor time of the whole process",
            parameters: parameters,
            zip(present, launches).map { way, launches in
                TakenSamples(way.title, isOurs: way.isOurs, nanoseconds: launches.map(\.whole))
            }
        )
        context.compare(
            work: "open the store in a new process",
            parameters: parameters,
            zip(present, launches).filter { way, _ in way.isOurs }.map { way, launches in
                TakenSamples(
                    way.title,
                    isOurs: true,
                    nanoseconds: launches.map(\.opening),
                    processorNanoseconds: launches.map(\.openingProcessor)
                )
            }
        )
    }
}
