import BenchmarkKit
import Foundation
import KeyedArchive

/// Writing archives.
struct ArchiveSuite: Suite {
    static let name = "archive"
    static let summary = "writing archives, beside Foundation's archiver and coders"

    func run(_ context: Context) throws {
        try wrapper(context)
        try wrappers(context)
        try codable(context)
        try graph(context)
        try growth(context)
    }

    private func wrapper(_ context: Context) throws {
        let coordinate = Coordinate(latitude: 52.52437, longitude: 13.41053)
        let objects = EncodableCoordinate(coordinate)
        let scalars = ScalarCoordinate(coordinate)
        let coders = try FoundationCoders.encoding(coordinate)
        try context.compare(
            work: "archive a wrapper of 2 objects",
            subjects: try archivers(of: objects) + coders
        )
        try context.compare(
            work: "archive a wrapper of 2 numbers",
            subjects: try archivers(of: scalars) + coders
        )
    }

    private func wrappers(_ context: Context) throws {
        try context.compare(
            work: "archive 1,000 wrappers of 5 fields",
            subjects: try archivers(of: Visit.thousand.map(EncodableVisit.init))
                + FoundationCoders.encoding(Visit.thousand)
        )
    }

    private func codable(_ context: Context) throws {
        let city = City.thousand[362]
        let wrapper = EncodableCity(city)
        let size = try KeyedArchiver.archivedData(encoding: city).count
        try context.compare(
            work: "archive a Codable value of 8 fields",
            subjects: [
                Subject("KeyedArchiver", isOurs: true, bytes: size) { _ in
                    try KeyedArchiver.archivedData(encoding: city)
                },
                Subject("NSKeyedArchiver, NSCoding class", bytes: try FoundationArchive.write(wrapper).count) { _ in
                    try FoundationArchive.write(wrapper)
                },
            ] + FoundationCoders.encoding(city)
        )
    }

    private func graph(_ context: Context) throws {
        let work = "archive 1,000 objects that share references"
        let archivers = try archivers(of: Node.graph())
        // Foundation's archiver takes a second for it.
        try context.compare(work: work, subjects: context.isQuick ? Array(archivers.prefix(1)) : archivers)
        if context.isQuick {
            context.unavailable(work: work, subject: "NSKeyedArchiver", reason: "it takes too long for a quick run")
        }
        for coder in ["JSONEncoder", "PropertyListEncoder"] {
            context.unavailable(work: work, subject: coder, reason: "it writes what is shared again each time")
        }
    }

    private func growth(_ context: Context) throws {
        try GrowthRun(context, work: "archive", subject: "KeyedArchiver").measure { visits in
            {
                let archive = try KeyedArchiver.archivedData(withRootObject: visits)
                // Each object takes more than that.
                return archive.count > 100 * visits.count ? visits.count : 0
            }
        }
    }

    private func archivers(of object: Any) throws -> [Subject] {
        let size = try KeyedArchiver.archivedData(withRootObject: object).count
        return [
            Subject("KeyedArchiver", isOurs: true, bytes: size) { _ in
                try KeyedArchiver.archivedData(withRootObject: object)
            },
            Subject("NSKeyedArchiver", bytes: try FoundationArchive.write(object).count) { _ in
                try FoundationArchive.write(object)
            },
        ]
    }
}
