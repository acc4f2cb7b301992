import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Metrics as text, read back by another parser where there is one.
@Suite struct MetricsTests {
    private let directory = TestDirectory()
    private static let alvand = City(name: "Alvand", population: 90_000)

    private func work(_ cities: Cache<City>) async throws {
        for number in 0..<5 { try await cities.save(Self.alvand, forKey: "\(number)") }
        for number in 0..<7 { _ = try await cities.fetch(forKey: "\(number)") }
        _ = try await cities.fetch(forKey: "new") { Self.alvand }
    }

    /// The samples by name and labels; for tests of values, not of the format.
    private func samples(_ metrics: CacheMetrics, _ format: CacheMetrics.Format = .prometheus) -> [String: String] {
        let lines = metrics.text(format).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let end = line.lastIndex(of: " ")!
                return (String(line[..<end]), String(line[line.index(after: end)...]))
            }
        )
    }

    @Test func metricsAreWhatTheCacheCounted() async throws {
        let metrics = CacheMetrics()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(observer: metrics)
        )
        try await work(cities)
        let samples = samples(metrics)
        #expect(samples[#"typed_cache_hits_total{cache="cities",tier="memory"}"#] == "5")
        #expect(samples[#"typed_cache_misses_total{cache="cities"}"#] == "3")
        #expect(samples[#"typed_cache_saves_total{cache="cities"}"#] == "\(cities.statistics.saves)")
        #expect(samples[#"typed_cache_loads_total{cache="cities"}"#] == "1")
        #expect(samples[#"typed_cache_entries{cache="cities",tier="memory"}"#] == "6")
        #expect(samples[#"typed_cache_size_limit_bytes{cache="cities",tier="memory"}"#] == "67108864")
        #expect(samples[#"typed_cache_operation_duration_seconds_count{cache="cities",operation="write"}"#] == "6")
        #expect(samples[#"typed_cache_operation_duration_seconds_count{cache="cities",operation="load"}"#] == "1")
    }

    @Test func severalCachesAndThoseThatAreGoneCount() throws {
        let metrics = CacheMetrics()
        let kept = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(observer: metrics)
        )
        try kept.save(Self.alvand, forKey: "a")
        do {
            let dropped = try Cache<City>(
                name: "cities",
                directory: directory.url,
                settings: CacheSettings(observer: metrics)
            )
            try dropped.save(Self.alvand, forKey: "b")
            let other = try Cache<City>(name: "other \"x\"", settings: CacheSettings(disk: nil))
            metrics.add(other)
            metrics.add(other)
            try other.save(Self.alvand, forKey: "c")
            #expect(samples(metrics)[#"typed_cache_saves_total{cache="other \"x\""}"#] == "1")
            #expect(samples(metrics)[#"typed_cache_entries{cache="other \"x\"",tier="memory"}"#] == "1")
            // Each directory's disk once, each memory by itself.
            let size = samples(metrics)[#"typed_cache_size_limit_bytes{cache="cities",tier="memory"}"#]
            #expect(size == "\(2 * 64 << 20)")
        }
        let after = samples(metrics)
        #expect(after[#"typed_cache_saves_total{cache="cities"}"#] == "2")
        #expect(after[#"typed_cache_saves_total{cache="other \"x\""}"#] == "1")
        #expect(after[#"typed_cache_entries{cache="other \"x\"",tier="memory"}"#] == nil)
        try kept.close()
        #expect(samples(metrics)[#"typed_cache_saves_total{cache="cities"}"#] == "2")
    }

    @Test func hitsAreNotToldToMetrics() throws {
        let metrics = CacheMetrics()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(observer: metrics)
        )
        #expect(!cities.core.listeners.isActive)
        let stream = cities.events
        #expect(cities.core.listeners.isActive)
        withExtendedLifetime(stream) {}
    }

    @Test(arguments: seeds(0..<20)) func aHistogramCountsEachTimeInItsBucket(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let histogram = LatencyHistogram()
        let edges = LatencyHistogram.bounds.flatMap { [$0, $0 - .nanoseconds(1), $0 + .nanoseconds(1)] }
        let times =
            edges + (0..<200).map { _ in .nanoseconds(Int64(pow(10, Double.random(in: 0...11, using: &random)))) }
        for time in times { histogram.record(time) }
        let (counts, sum) = histogram.cumulative
        for (bound, count) in zip(LatencyHistogram.bounds, counts) {
            #expect(count == times.count { $0 <= bound }, "up to \(bound)")
        }
        #expect(counts.last == times.count && sum == times.reduce(.zero, +))
        #expect(LatencyHistogram.bounds == LatencyHistogram.bounds.sorted())
    }

    @Test func theFormatIsTheClientsChoice() {
        #expect(CacheMetrics.Format(accept: nil) == .prometheus)
        #expect(CacheMetrics.Format(accept: "*/*") == .prometheus)
        let usual = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
        #expect(CacheMetrics.Format(accept: usual) == .openMetrics)
        #expect(
            CacheMetrics.Format.openMetrics.contentType.hasPrefix("application/openmetrics-text; version=1.0.0")
        )
        #expect(CacheMetrics().text(.openMetrics).hasSuffix("# EOF\n"))
    }

    /// Prometheus' own parser for Python.
    @Test(.enabled(if: PrometheusClient.isThere, "Scripts/test installs prometheus_client"))
    func prometheusReadsBothFormats() async throws {
        let metrics = CacheMetrics()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(observer: metrics)
        )
        let strange = try Cache<City>(
            name: "a \"strange\" näme 🦁",
            settings: CacheSettings(disk: nil, observer: metrics)
        )
        for cache in [cities, strange] { try await work(cache) }
        // As an observer of another kind would pass it on.
        let token = metrics.cache("back\\slash\nline", willBegin: .read)
        metrics.cache("back\\slash\nline", didEnd: .read, token)
        var read: [[String]] = []
        for format in [CacheMetrics.Format.prometheus, .openMetrics] {
            let lines = try PrometheusClient.samples(metrics.text(format), format)
            #expect(Set(lines).count == lines.count)
            for wanted in [
                "counter typed_cache_hits_total cache=cities,tier=memory 5.0",
                "counter typed_cache_misses_total cache=a \"strange\" näme 🦁 3.0",
                "gauge typed_cache_entries cache=cities,tier=memory 6.0",
                "histogram typed_cache_operation_duration_seconds_count cache=cities,operation=write 6.0",
                "histogram typed_cache_operation_duration_seconds_bucket cache=cities,le=+Inf,operation=write 6.0",
                "histogram typed_cache_operation_duration_seconds_count cache=back\\slash%line,operation=read 1.0",
            ] {
                #expect(lines.contains(wanted), "\(format): \(wanted)")
            }
            // Operations that never ran have no samples.
            let ran = lines.filter { $0.contains("back\\slash%line") && $0.contains("operation=") }
            #expect(ran.allSatisfy { $0.contains("operation=read ") } && !ran.isEmpty, "\(ran)")
            read.append(lines)
        }
        // The same samples, by either parser.
        #expect(read[0].sorted() == read[1].sorted())
    }
}

/// The Python package prometheus_client, with parsers of both formats.
enum PrometheusClient {
    static let isThere = (try? run(["-c", "import prometheus_client"], input: "")) != nil

    /// A line for each sample: kind, name, labels and value; line feeds as percent signs.
    static func samples(_ text: String, _ format: CacheMetrics.Format) throws -> [String] {
        try run(["-c", script, format == .openMetrics ? "openmetrics" : "text"], input: text)
            .split(separator: "\n").map(String.init)
    }

    private static let script = """
        import sys
        if sys.argv[1] == 'text': from prometheus_client.parser import text_string_to_metric_families as parse
        else: from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
        sys.stdout.reconfigure(encoding='utf-8')
        text = sys.stdin.buffer.read().decode('utf-8')
        for family in parse(text):
            if sys.argv[1] == 'openmetrics' and 'seconds' in family.name: assert family.unit == 'seconds', family
            for sample in family.samples:
                labels = ','.join(f'{name}={value}' for name, value in sorted(sample.labels.items()))
                if 'le' in sample.labels and sample.labels['le'] != '+Inf':
                    labels = labels.replace('le=' + sample.labels['le'], 'le=' + str(float(sample.labels['le'])))
                print(family.type, sample.name, labels.replace('\\n', '%'), float(sample.value))
        """

    private static func run(_ arguments: [String], input: String) throws -> String {
        let file = TestDirectory.newPath()
        try Data(input.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardInput = try FileHandle(forReadingFrom: file)
        let pipe = Pipe.make()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "python3 failed: \(arguments.first ?? "")")
        return String(decoding: output, as: UTF8.self)
    }
}
