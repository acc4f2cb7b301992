import BenchmarkKit

enum Suites {
    /// Every suite there is, in the order in which they run.
    static var all: [any Suite.Type] {
        [
            ArchiveSuite.self,
            UnarchiveSuite.self,
            CompressSuite.self,
            MemorySuite.self,
            DiskSuite.self,
            LargeSuite.self,
            HitRatioSuite.self,
            ScaleSuite.self,
            SteadySuite.self,
            WarmSuite.self,
            ModelsSuite.self,
        ]
    }
}
