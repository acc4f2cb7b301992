import BenchmarkKit
import Foundation
import KeyedArchive

/// Writing archives.
struct ArchiveSuite: Suite {
    static let name = "archive"
    static let summary = "writing archives, beside Foundation's archiver and coders"

    func run(_ context: Context) throws {
        try archiveWrapper(context)
    }

    private func archiveWrapper(_ context: Context) throws {
        let coordinate = Coordinate(latitude: 52.52437, longitude: 13.41053)
        let wrapper = EncodableCoordinate(coordinate)
        let json = JSONEncoder()
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        try context.compare(
            work: "archive a wrapper of 2 fields",
            subjects: [
                Subject(
                    "KeyedArchiver",
                    isOurs: true,
                    bytes: KeyedArchiver.archivedData(withRootObject: wrapper).count
                ) {
                    _ in try KeyedArchiver.archivedData(withRootObject: wrapper)
                },
                Subject("NSKeyedArchiver") { _ in try FoundationArchive.write(wrapper) },
                Subject("JSONEncoder") { _ in try json.encode(coordinate) },
                Subject("PropertyListEncoder") { _ in try list.encode(coordinate) },
            ]
        )
    }
}
