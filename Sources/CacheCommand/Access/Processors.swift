import Foundation

enum Processors {
    /// How many processors this process may use. Looked up once: that reads files of the system.
    static let count = ProcessInfo.processInfo.activeProcessorCount
}
