/// The machine that ran the benchmarks.
package struct Machine: Codable, Equatable, Sendable {
    package let processor: String
    package let cores: Int
    /// MiB.
    package let memory: Int
    package let kernel: String

    package init(processor: String, cores: Int, memory: Int, kernel: String) {
        self.processor = processor
        self.cores = cores
        self.memory = memory
        self.kernel = kernel
    }
}
