import BenchmarkKit
import Foundation
import ModelCache

/// Long lists: a page after the last one, and a changed element that is observed.
struct GrownListRun {
    private static let pageLength = 100

    func run(_ context: Context) throws {
        let lengths = context.isOnce ? [1_000, 2_000] : [1_000, 20_000]
        let pages = try lengths.map { try fetchPages(of: $0, context) }
        context.value(
            work: "fetch a page of 100 offers, of a list of \(lengths[1]), to that of one of \(lengths[0])",
            subject: "ModelCache",
            isOurs: true,
            unit: "×",
            samples: zip(pages[1], pages[0]).map { $0 / $1 }
        )
        for length in [20, context.isOnce ? 1_000 : 10_000] { try tell(length, context) }
    }

    /// Pages until the caller has the list with them, and the disk has the page.
    ///
    /// - Returns: nanoseconds of processor time.
    private func fetchPages(of length: Int, _ context: Context) throws -> [Double] {
        let count = context.rounds + 1
        var answers = ["/offers/all/0": try Self.answer(0..<length)]
        for page in 0..<count {
            let first = length + page * Self.pageLength
            answers["/offers/all/\(first)"] = try Self.answer(first..<first + Self.pageLength)
        }
        let list = OfferList(name: "all")
        let folder = try context.makeFolder("grown-\(length)")
        let server = OfferServer(answers)
        let (time, processor) = try wait {
            let models = try await Models.offers(in: folder, server)
            _ = try await models.fetch(list)
            await models.flush()
            var time: [Double] = []
            var processor: [Double] = []
            for page in 0..<count {
                let (start, begun) = (MonotonicTime.processorNanoseconds(), MonotonicTime.nanoseconds())
                let snapshot = try await models.fetchMore(of: list)
                await models.flush()
                processor.append(MonotonicTime.processorNanoseconds() - start)
                time.append(MonotonicTime.nanoseconds() - begun)
                guard snapshot.elements.count == length + (page + 1) * Self.pageLength else {
                    throw BenchmarkError("a page is missing")
                }
            }
            try await models.close()
            // The first one warms up.
            return (Array(time.dropFirst()), Array(processor.dropFirst()))
        }
        context.compare(
            work: "fetch a page of 100 offers, to disk",
            parameters: ["list": "\(length)"],
            [TakenSamples("ModelCache", isOurs: true, nanoseconds: time, processorNanoseconds: processor)]
        )
        return processor
    }

    private static func answer(_ ids: Range<Int>) throws -> ModelResponse {
        ModelResponse(headers: ["next": "\(ids.upperBound)"], body: try OfferServer.json(ids))
    }

    /// From a change until the observer of a list has the snapshot; the disk gets the change later.
    private func tell(_ length: Int, _ context: Context) throws {
        let list = OfferList(name: "all")
        let folder = try context.makeFolder("told-\(length)")
        let server = try OfferServer(lists: ["all": 0..<length])
        let count = context.isOnce ? 3 : context.isQuick ? 30 : 200
        let samples = try wait {
            let models = try await Models.offers(in: folder, server)
            _ = try await models.fetch(list)
            await models.flush()
            let updates = models.updates(of: list).makeAsyncIterator()
            _ = await updates.next(isolation: nil)
            var samples: [Double] = []
            for version in 1...count {
                let saving = Task {
                    let begun = MonotonicTime.nanoseconds()
                    try await models.save(Offer.make(7, version: version))
                    return begun
                }
                let snapshot = await updates.next(isolation: nil)
                let told = MonotonicTime.nanoseconds()
                guard snapshot??.elements[7].changedAt == Offer.make(7, version: version).changedAt else {
                    throw BenchmarkError("an observer was told of another change")
                }
                samples.append(told - (try await saving.value))
            }
            try await models.close()
            return samples
        }
        context.compare(
            work: "tell the observer of a list of offers of a changed element",
            parameters: ["list": "\(length)"],
            [TakenSamples("ModelCache", isOurs: true, nanoseconds: samples)]
        )
    }
}
