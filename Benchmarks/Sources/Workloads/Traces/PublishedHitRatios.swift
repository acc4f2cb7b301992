/// Hit ratios of known policies on the recorded traces, as published: to compare with, and to check replays by.
///
/// LRU, FIFO, SIEVE, S3-FIFO and Belady are exact replays; theine and moka are Python packages, and vary a
/// little from run to run.
public enum PublishedHitRatios {
    /// The policies that each cell has percentages for.
    public static let policies = [
        "LRU", "FIFO", "SIEVE", "S3-FIFO (paper)", "S3-FIFO (libCacheSim rules)", "ARC", "LIRS",
        "W-TinyLFU 1 %", "W-TinyLFU adaptive", "theine 2.0", "moka", "Belady",
    ]

    /// One for each trace and size, 18 in all.
    public static let cells = [
        PublishedCell(
            "lirs_loop",
            entryCount: 256,
            percentages: [0.0, 0.0, 0.0, 0.0, 22.8, 0.0, 25.07, 22.79, 20.9, 23.1, 24.72, 25.22]
        ),
        PublishedCell(
            "lirs_loop",
            entryCount: 512,
            percentages: [0.0, 0.0, 0.0, 0.0, 45.51, 0.0, 50.05, 50.04, 48.83, 46.41, 50.06, 50.54]
        ),
        PublishedCell(
            "lirs_loop",
            entryCount: 768,
            percentages: [0.0, 0.0, 0.0, 60.54, 46.41, 0.0, 75.12, 67.46, 65.65, 67.51, 75.36, 75.81]
        ),
        PublishedCell(
            "lirs_multi3",
            entryCount: 500,
            percentages: [32.65, 24.91, 33.14, 37.53, 40.57, 36.35, 40.59, 41.61, 42.07, 43.32, 38.74, 48.88]
        ),
        PublishedCell(
            "lirs_multi3",
            entryCount: 1_000,
            percentages: [37.7, 32.97, 39.16, 45.37, 51.37, 44.41, 52.01, 51.05, 51.1, 50.85, 46.61, 56.28]
        ),
        PublishedCell(
            "lirs_multi3",
            entryCount: 2_000,
            percentages: [44.59, 39.65, 46.69, 55.23, 59.1, 46.72, 62.02, 60.5, 60.08, 61.02, 57.78, 68.78]
        ),
        PublishedCell(
            "lirs_sprite",
            entryCount: 100,
            percentages: [21.58, 22.3, 24.86, 29.25, 29.16, 25.66, 27.67, 30.67, 29.15, 29.77, 32.18, 50.8]
        ),
        PublishedCell(
            "lirs_sprite",
            entryCount: 400,
            percentages: [70.77, 66.14, 64.43, 71.4, 71.28, 70.02, 69.56, 68.85, 69.63, 69.03, 69.17, 84.56]
        ),
        PublishedCell(
            "lirs_sprite",
            entryCount: 1_000,
            percentages: [90.64, 87.24, 86.97, 89.35, 89.31, 89.7, 87.71, 83.92, 86.46, 85.95, 88.71, 93.24]
        ),
        PublishedCell(
            "cache2k_web12",
            entryCount: 300,
            percentages: [49.01, 46.1, 51.84, 53.37, 53.33, 51.41, 48.31, 48.76, 50.6, 53.11, 46.38, 66.83]
        ),
        PublishedCell(
            "cache2k_web12",
            entryCount: 1_000,
            percentages: [64.73, 60.82, 68.23, 69.07, 69.0, 67.44, 66.49, 67.45, 67.59, 67.4, 63.37, 77.75]
        ),
        PublishedCell(
            "cache2k_web12",
            entryCount: 3_000,
            percentages: [76.48, 72.99, 78.18, 78.62, 78.68, 77.94, 77.54, 77.2, 75.92, 76.01, 75.5, 84.24]
        ),
        PublishedCell(
            "corda_vaultservice",
            entryCount: 500,
            percentages: [33.33, 33.33, 0.37, 33.33, 33.33, 33.3, 0.21, 0.75, 30.18, 30.92, 7.4, 33.33]
        ),
        PublishedCell(
            "corda_vaultservice",
            entryCount: 5_000,
            percentages: [33.33, 33.33, 3.68, 33.33, 33.33, 33.3, 33.28, 33.28, 21.96, 27.06, 8.75, 33.33]
        ),
        PublishedCell(
            "corda_vaultservice",
            entryCount: 20_000,
            percentages: [33.33, 33.33, 14.74, 33.33, 33.33, 33.31, 33.33, 33.33, 33.33, 33.33, 13.77, 33.33]
        ),
        PublishedCell(
            "twitter_cluster52_1m",
            entryCount: 1_000,
            percentages: [64.13, 61.42, 65.49, 67.24, 67.23, 64.65, 61.2, 63.49, 67.93, 67.73, 59.28, 74.37]
        ),
        PublishedCell(
            "twitter_cluster52_1m",
            entryCount: 10_000,
            percentages: [77.51, 75.0, 78.57, 79.98, 79.98, 78.43, 78.19, 79.2, 78.78, 78.19, 74.29, 84.15]
        ),
        PublishedCell(
            "twitter_cluster52_1m",
            entryCount: 40_000,
            percentages: [83.48, 81.69, 83.62, 83.79, 83.83, 83.81, 83.63, 82.49, 80.72, 80.94, 81.26, 85.65]
        ),
    ]

    /// `corda_vaultservice`, `lirs_loop`, and the first again, keys kept apart.
    public static let chain = (
        entryCount: 512,
        percentages: [
            ("LRU", 11.65), ("SIEVE", 0.20), ("S3-FIFO (paper)", 11.70), ("W-TinyLFU 1 %", 32.43),
            ("theine 2.0", 39.55), ("W-TinyLFU adaptive", 40.71), ("Belady", 44.53),
        ]
    )
}

/// All that is known of one trace at one size.
public struct PublishedCell: Sendable {
    public let trace: String
    public let entryCount: Int
    /// In percent of the requests, in the order of `PublishedHitRatios.policies`.
    public let percentages: [Double]

    init(_ trace: String, entryCount: Int, percentages: [Double]) {
        self.trace = trace
        self.entryCount = entryCount
        self.percentages = percentages
    }
}
