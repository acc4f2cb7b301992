/// Writes metrics as text: in the format of Prometheus, or as OpenMetrics, which differs in the names of counters, in
/// units, and in its end.
///
/// The formats: https://prometheus.io/docs/instrumenting/exposition_formats and
/// https://prometheus.io/docs/specs/om/open_metrics_spec
struct MetricsText: CustomStringConvertible {
    private typealias Kind = MetricsFamily.Kind

    private(set) var description = ""
    private let isOpenMetrics: Bool

    init(_ caches: [MetricsSnapshot], _ families: [MetricsFamily], format: CacheMetrics.Format) {
        isOpenMetrics = format.isOpenMetrics
        appendFetches(caches)
        appendEvents(caches)
        appendSizes(caches)
        appendTimes(caches)
        for family in families { append(family) }
        if isOpenMetrics { description += "# EOF\n" }
    }

    // MARK: The metrics

    private mutating func appendFetches(_ caches: [MetricsSnapshot]) {
        counter("hits", help: "Fetches answered with a fresh value.", of: caches) { cache in
            [([("tier", "memory")], cache.memoryHits), ([("tier", "disk")], cache.diskHits)]
        }
        counter(
            "stale_hits",
            help: "Fetches answered with an expired value within a stale window.",
            of: caches,
            \.staleHits
        )
        counter("misses", help: "Fetches that found nothing that may be used.", of: caches, \.misses)
        counter(
            "joins",
            help: "Fetches that waited for a load that another fetch had started.",
            of: caches,
            \.joins
        )
        counter("loads", help: "Values that producers gave.", of: caches, \.loads)
        counter(
            "revalidations",
            help: "Expired values that producers found still right.",
            of: caches,
            \.revalidations
        )
        counter("load_failures", help: "Producers that threw.", of: caches, \.loadFailures)
        begin("load_seconds", .counter, help: "Time that producers ran.", unit: "seconds")
        for cache in caches {
            sample(
                "load_seconds_total",
                [("cache", cache.name)],
                value: "\(cache.statistics.loadTime / .seconds(1))"
            )
        }
    }

    private mutating func appendEvents(_ caches: [MetricsSnapshot]) {
        counter("saves", help: "Entries saved.", of: caches, \.saves)
        counter("evictions", help: "Entries evicted to make room.", of: caches) { cache in
            [([("tier", "memory")], cache.memoryEvictions), ([("tier", "disk")], cache.diskEvictions)]
        }
        counter("expirations", help: "Entries found expired, and removed.", of: caches, \.expirations)
        counter("removals", help: "Entries removed by a call or a failed save.", of: caches, \.removals)
        counter("replacements", help: "Entries in memory that another value replaced.", of: caches, \.replacements)
        counter("clearances", help: "Removals of all entries.", of: caches, \.clearances)
        counter("corruptions", help: "Entries found damaged.", of: caches, \.corruptions)
        counter(
            "invalidations",
            help: "Entries in memory that others had changed, and times when any could have been.",
            of: caches,
            \.invalidations
        )
        counter(
            "verifications",
            help: "Entries in memory compared with a server's and found the same.",
            of: caches,
            \.verifications
        )
        counter("failures", help: "Failures that no call could throw.", of: caches, \.failures)
    }

    private mutating func appendSizes(_ caches: [MetricsSnapshot]) {
        gauge("entries", help: "Entries in a tier.", of: caches, \.entryCount)
        gauge("size_bytes", help: "Bytes that entries take in a tier.", unit: "bytes", of: caches, \.byteCount)
        gauge("entries_limit", help: "The most entries in a tier.", of: caches, \.entryLimit)
        gauge(
            "size_limit_bytes",
            help: "The most bytes of entries in a tier.",
            unit: "bytes",
            of: caches,
            \.byteLimit
        )
    }

    private mutating func appendTimes(_ caches: [MetricsSnapshot]) {
        let name = "operation_duration_seconds"
        begin(name, .histogram, help: "How long operations on the disk, and loads, took.", unit: "seconds")
        for cache in caches {
            for operation in CacheOperation.all {
                guard let histogram = cache.operations?.histogram(of: operation) else { continue }
                if histogram.isEmpty { continue }
                append(histogram, as: name, [("cache", cache.name), ("operation", "\(operation)")])
            }
        }
    }

    private mutating func append(_ histogram: LatencyHistogram, as name: String, _ labels: Labels) {
        let (counts, sum) = histogram.cumulative
        for (bound, count) in zip(LatencyHistogram.bounds, counts) {
            sample("\(name)_bucket", labels + [("le", "\(bound / .seconds(1))")], value: "\(count)")
        }
        let total = counts.last ?? 0
        sample("\(name)_bucket", labels + [("le", "+Inf")], value: "\(total)")
        sample("\(name)_sum", labels, value: "\(sum / .seconds(1))")
        sample("\(name)_count", labels, value: "\(total)")
    }

    private mutating func append(_ family: MetricsFamily) {
        begin(family.name, family.kind, help: family.help, unit: family.unit)
        let name = family.kind == .counter ? "\(family.name)_total" : family.name
        for (labels, value) in family.samples {
            switch value {
            case .count(let count): sample(name, labels, value: "\(count)")
            case .seconds(let time): sample(name, labels, value: "\(time / .seconds(1))")
            case .histogram(let histogram): append(histogram, as: name, labels)
            }
        }
    }

    // MARK: Kinds

    private typealias Labels = MetricsFamily.Labels

    private mutating func counter(
        _ name: String,
        help: String,
        of caches: [MetricsSnapshot],
        _ values: (CacheStatistics) -> [(Labels, Int)]
    ) {
        begin(name, .counter, help: help)
        for cache in caches {
            for (labels, value) in values(cache.statistics) {
                sample("\(name)_total", [("cache", cache.name)] + labels, value: "\(value)")
            }
        }
    }

    private mutating func counter(
        _ name: String,
        help: String,
        of caches: [MetricsSnapshot],
        _ value: KeyPath<CacheStatistics, Int>
    ) {
        counter(name, help: help, of: caches) { [([], $0[keyPath: value])] }
    }

    private mutating func gauge(
        _ name: String,
        help: String,
        unit: String? = nil,
        of caches: [MetricsSnapshot],
        _ value: KeyPath<TierFigures, Int?>
    ) {
        begin(name, .gauge, help: help, unit: unit)
        for cache in caches {
            for (tier, figures) in [("memory", cache.memory), ("disk", cache.disk)] {
                guard let value = figures?[keyPath: value] else { continue }
                sample(name, [("cache", cache.name), ("tier", tier)], value: "\(value)")
            }
        }
    }

    // MARK: Lines

    private static let prefix = "typed_cache_"

    private mutating func begin(_ name: String, _ kind: Kind, help: String, unit: String? = nil) {
        // In OpenMetrics a counter has its name without the ending that its samples have.
        let ending = kind == .counter && !isOpenMetrics ? "_total" : ""
        let name = Self.prefix + name + ending
        description += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        if isOpenMetrics, let unit { description += "# UNIT \(name) \(unit)\n" }
    }

    private mutating func sample(_ name: String, _ labels: Labels, value: String) {
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
