/// Writes metrics as text: in the format of Prometheus, or as OpenMetrics, which differs in the names of counters, in
/// units, and in its end.
///
/// The formats: https://prometheus.io/docs/instrumenting/exposition_formats and
/// https://prometheus.io/docs/specs/om/open_metrics_spec
struct MetricsText: CustomStringConvertible {
    private enum Kind: String { case counter, gauge, histogram }

    private(set) var description = ""
    private let isOpenMetrics: Bool

    init(_ caches: [MetricsSnapshot], format: CacheMetrics.Format) {
        isOpenMetrics = format.isOpenMetrics
        appendFetches(caches)
        appendEvents(caches)
        appendSizes(caches)
        appendTimes(caches)
        if isOpenMetrics { description += "# EOF\n" }
    }

    // MARK: The metrics

    private mutating func appendFetches(_ caches: [MetricsSnapshot]) {
        counter("hits", "Fetches answered with a fresh value.", caches) { cache in
            [([("tier", "memory")], cache.memoryHits), ([("tier", "disk")], cache.diskHits)]
        }
        counter("stale_hits", "Fetches answered with an expired value within a stale window.", caches, \.staleHits)
        counter("misses", "Fetches that found nothing that may be used.", caches, \.misses)
        counter("joins", "Fetches that waited for a load that another fetch had started.", caches, \.joins)
        counter("loads", "Values that producers gave.", caches, \.loads)
        counter("revalidations", "Expired values that producers found still right.", caches, \.revalidations)
        counter("load_failures", "Producers that threw.", caches, \.loadFailures)
        begin("load_seconds", .counter, "Time that producers ran.", unit: "seconds")
        for cache in caches {
            sample("load_seconds_total", [("cache", cache.name)], "\(cache.statistics.loadTime / .seconds(1))")
        }
    }

    private mutating func appendEvents(_ caches: [MetricsSnapshot]) {
        counter("saves", "Entries saved.", caches, \.saves)
        counter("evictions", "Entries given up to make room.", caches) { cache in
            [([("tier", "memory")], cache.memoryEvictions), ([("tier", "disk")], cache.diskEvictions)]
        }
        counter("expirations", "Entries found expired, and removed.", caches, \.expirations)
        counter("removals", "Entries removed by a call or a failed save.", caches, \.removals)
        counter("replacements", "Entries in memory that another value replaced.", caches, \.replacements)
        counter("clearances", "Removals of all entries.", caches, \.clearances)
        counter("corruptions", "Entries found damaged.", caches, \.corruptions)
        counter("failures", "Failures that no call could throw.", caches, \.failures)
    }

    private mutating func appendSizes(_ caches: [MetricsSnapshot]) {
        gauge("entries", "Entries in a tier.", caches, \.entryCount)
        gauge("size_bytes", "Bytes that entries take in a tier.", unit: "bytes", caches, \.byteCount)
        gauge("entries_limit", "The most entries in a tier.", caches, \.entryLimit)
        gauge("size_limit_bytes", "The most bytes of entries in a tier.", unit: "bytes", caches, \.byteLimit)
    }

    private mutating func appendTimes(_ caches: [MetricsSnapshot]) {
        let name = "operation_duration_seconds"
        begin(name, .histogram, "How long operations on the disk, and loads, took.", unit: "seconds")
        for cache in caches {
            for operation in CacheOperation.all {
                guard let (counts, sum) = cache.operations?.histogram(of: operation)?.cumulative else { continue }
                let labels = [("cache", cache.name), ("operation", "\(operation)")]
                for (bound, count) in zip(LatencyHistogram.bounds, counts) {
                    sample("\(name)_bucket", labels + [("le", "\(bound / .seconds(1))")], "\(count)")
                }
                let total = counts.last ?? 0
                sample("\(name)_bucket", labels + [("le", "+Inf")], "\(total)")
                sample("\(name)_sum", labels, "\(sum / .seconds(1))")
                sample("\(name)_count", labels, "\(total)")
            }
        }
    }

    // MARK: Kinds

    private typealias Labels = [(name: String, value: String)]

    private mutating func counter(
        _ name: String,
        _ help: String,
        _ caches: [MetricsSnapshot],
        _ values: (CacheStatistics) -> [(Labels, Int)]
    ) {
        begin(name, .counter, help)
        for cache in caches {
            for (labels, value) in values(cache.statistics) {
                sample("\(name)_total", [("cache", cache.name)] + labels, "\(value)")
            }
        }
    }

    private mutating func counter(
        _ name: String,
        _ help: String,
        _ caches: [MetricsSnapshot],
        _ value: KeyPath<CacheStatistics, Int>
    ) {
        counter(name, help, caches) { [([], $0[keyPath: value])] }
    }

    private mutating func gauge(
        _ name: String,
        _ help: String,
        unit: String? = nil,
        _ caches: [MetricsSnapshot],
        _ value: KeyPath<TierFigures, Int?>
    ) {
        begin(name, .gauge, help, unit: unit)
        for cache in caches {
            for (tier, figures) in [("memory", cache.memory), ("disk", cache.disk)] {
                guard let value = figures?[keyPath: value] else { continue }
                sample(name, [("cache", cache.name), ("tier", tier)], "\(value)")
            }
        }
    }

    // MARK: Lines

    private static let prefix = "typed_cache_"

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String, unit: String? = nil) {
        // In OpenMetrics a counter has its name without the ending that its samples have.
        let ending = kind == .counter && !isOpenMetrics ? "_total" : ""
        let name = Self.prefix + name + ending
        description += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        if isOpenMetrics, let unit { description += "# UNIT \(name) \(unit)\n" }
    }

    private mutating func sample(_ name: String, _ labels: Labels, _ value: String) {
        let labels = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        description += "\(Self.prefix)\(name){\(labels)} \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        // By scalars: a line feed may be part of a larger character.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
