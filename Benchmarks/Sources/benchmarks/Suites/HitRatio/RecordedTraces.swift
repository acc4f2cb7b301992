import Foundation
import Workloads

/// The recorded traces that are known and in a folder.
struct RecordedTraces {
    private var traces: [String: Trace] = [:]

    /// - Parameter requestLimit: traces of more requests are left out.
    /// - Throws: ``TraceError`` if a file is no trace, and the errors of reading a file.
    init(in folder: URL, requestLimit: Int) throws {
        for name in Set(PublishedHitRatios.cells.map(\.trace)) {
            let file = folder.appending(path: "\(name).\(TraceFile.pathExtension)")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let trace = try TraceFile.read(file)
            if trace.requests.count <= requestLimit { traces[name] = trace }
        }
    }

    subscript(name: String) -> Trace? { traces[name] }
}
