import Foundation
import TypedCache

extension LiveRow {
    /// For programs.
    func json(at date: Date) -> Record {
        let statistics = process.statistics
        let counts = figures.statistics
        var record: Record = [
            "time": .date(date),
            "cache": .string(process.cache),
            "process": .count(statistics.processIdentifier),
            "program": .string(statistics.program),
            "state": .string(state.rawValue),
            "openedAt": .date(statistics.openedAt),
            "publishedAt": .date(statistics.publishedAt),
            "memoryHits": .count(counts.memoryHits),
            "diskHits": .count(counts.diskHits),
            "staleHits": .count(counts.staleHits),
            "misses": .count(counts.misses),
            "joins": .count(counts.joins),
            "hitRatio": hitRatio.map(RecordValue.double) ?? .null,
            "loads": .count(counts.loads),
            "loadFailures": .count(counts.loadFailures),
            "loadSeconds": .seconds(counts.loadTime),
            "saves": .count(counts.saves),
            "memoryEvictions": .count(counts.memoryEvictions),
            "diskEvictions": .count(counts.diskEvictions),
            "expirations": .count(counts.expirations),
            "removals": .count(counts.removals),
            "corruptions": .count(counts.corruptions),
            "failures": .count(counts.failures),
            "memory": .object(Self.json(figures.memory)),
            "disk": .object(Self.json(figures.disk)),
            "perSecond": rates.map { .object(Self.json($0)) } ?? .null,
        ]
        if let app = process.app { record.fields.insert(RecordField(name: "app", value: .string(app)), at: 1) }
        return record
    }

    private static func json(_ tier: TierFigures) -> Record {
        let number = { (count: Int?) in count.map(RecordValue.count) ?? .null }
        return [
            "entries": number(tier.entryCount),
            "size": number(tier.byteCount),
            "entryLimit": number(tier.entryLimit),
            "sizeLimit": number(tier.byteLimit),
        ]
    }

    private static func json(_ rates: LiveRates) -> Record {
        [
            "memoryHits": .double(rates.memoryHits),
            "diskHits": .double(rates.diskHits),
            "misses": .double(rates.misses),
            "saves": .double(rates.saves),
            "evictions": .double(rates.evictions),
            "loads": .double(rates.loads),
            "loadSeconds": .double(rates.loadTime),
        ]
    }
}
