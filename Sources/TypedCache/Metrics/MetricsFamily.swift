/// The samples of one metric, of something else than a cache.
package struct MetricsFamily: Sendable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package enum Value: Sendable {
        case count(Int)
        case seconds(Duration)
        case histogram(LatencyHistogram)
    }

    package typealias Labels = [(name: String, value: String)]

    /// Without the prefix of all names, and without the ending of counters.
    let name: String
    let kind: Kind
    let help: String
    let unit: String?
    var samples: [(labels: Labels, value: Value)]

    package init(
        _ name: String,
        _ kind: Kind,
        help: String,
        unit: String? = nil,
        samples: [(labels: Labels, value: Value)]
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.unit = unit
        self.samples = samples
    }
}

/// Something whose metrics stand beside those of caches.
package protocol MetricsSource: AnyObject, Sendable {
    /// The metrics at this moment. Sources of one kind give the same metrics, in the same order.
    var metrics: [MetricsFamily] { get }
}
