import BenchmarkKit
import Foundation
import KeyedArchive

/// Reading archives. Each subject reads the archives of its own side.
struct UnarchiveSuite: Suite {
    static let name = "unarchive"
    static let summary = "reading archives, beside Foundation's unarchiver and coders"

    func run(_ context: Context) throws {
        try wrapper(context)
        try wrappers(context)
        try codable(context)
        try graph(context)
        try fields(context)
        try numbers(context)
        try growth(context)
    }

    private func wrapper(_ context: Context) throws {
        let coordinate = Coordinate(latitude: 52.52437, longitude: 13.41053)
        let coders = try FoundationCoders.decoding(Coordinate.self, from: coordinate)
        try context.compare(
            work: "unarchive a wrapper of 2 objects",
            subjects: try unarchivers(of: EncodableCoordinate(coordinate)) + coders
        )
        try context.compare(
            work: "unarchive a wrapper of 2 numbers",
            subjects: try unarchivers(of: ScalarCoordinate(coordinate)) + coders
        )
    }

    private func wrappers(_ context: Context) throws {
        try context.compare(
            work: "unarchive 1,000 wrappers of 5 fields",
            subjects: try unarchivers(of: Visit.thousand.map(EncodableVisit.init), allowing: [EncodableVisit.self])
                + FoundationCoders.decoding([Visit].self, from: Visit.thousand)
        )
    }

    private func codable(_ context: Context) throws {
        let city = City.thousand[362]
        let archive = try KeyedArchiver.archivedData(encoding: city)
        let foundationArchive = try FoundationArchive.write(EncodableCity(city))
        try context.compare(
            work: "unarchive a Codable value of 8 fields",
            subjects: [
                Subject("KeyedUnarchiver", isOurs: true) { _ in
                    try KeyedUnarchiver.unarchivedValue(of: City.self, from: archive)
                },
                Subject("NSKeyedUnarchiver, NSCoding class") { _ in
                    try FoundationArchive.read(EncodableCity.self, from: foundationArchive)
                },
            ] + FoundationCoders.decoding(City.self, from: city)
        )
    }

    private func graph(_ context: Context) throws {
        let work = "unarchive 1,000 objects that share references"
        try context.compare(work: work, subjects: try unarchivers(of: Node.graph()))
        for coder in ["JSONDecoder", "PropertyListDecoder"] {
            context.unavailable(work: work, subject: coder, reason: "what it reads shares nothing")
        }
    }

    /// Fields that are not read should cost little: a record as apps have them, with fields of many kinds.
    private func fields(_ context: Context) throws {
        let values = CodableRecord(fields: RecordField.sample)
        let all = try unarchivers(of: Record(fields: RecordField.sample), allowing: [EncodableCoordinate.self])
        let some = try unarchivers(
            of: ThreeFieldsRecord(fields: RecordField.sample),
            allowing: [EncodableCoordinate.self]
        )
        try context.compare(
            work: "unarchive 50 fields of 50",
            subjects: all + FoundationCoders.decoding(AllRecordFields.self, from: values)
        )
        try context.compare(
            work: "unarchive 3 fields of 50",
            subjects: some + FoundationCoders.decoding(ThreeRecordFields.self, from: values)
        )
        try context.compare(
            work: "unarchive some fields of 50",
            subjects: [
                try unarchiver("3 fields", of: ThreeFieldsRecord(fields: RecordField.sample)),
                try unarchiver("50 fields", of: Record(fields: RecordField.sample)),
            ]
        )
    }

    /// The same with numbers alone, each of which takes so little time that opening the archive is most of it.
    private func numbers(_ context: Context) throws {
        let values = CodableFields(values: FiftyFields.sample)
        try context.compare(
            work: "unarchive 50 numbers of 50",
            subjects: try unarchivers(of: FiftyFields(values: FiftyFields.sample))
                + FoundationCoders.decoding(AllCodableFields.self, from: values)
        )
        try context.compare(
            work: "unarchive 3 numbers of 50",
            subjects: try unarchivers(of: ThreeOfFiftyFields(values: FiftyFields.sample))
                + FoundationCoders.decoding(ThreeCodableFields.self, from: values)
        )
    }

    private func growth(_ context: Context) throws {
        try GrowthRun(context, work: "unarchive", subject: "KeyedUnarchiver").measure { visits in
            let archive = try KeyedArchiver.archivedData(withRootObject: visits)
            return {
                let objects = try KeyedUnarchiver.unarchivedObject(
                    ofClass: [EncodableVisit].self,
                    allowing: [EncodableVisit.self],
                    from: archive
                )
                return objects?.count ?? 0
            }
        }
    }

    private func unarchiver<T>(_ name: String, of object: T) throws -> Subject {
        let archive = try KeyedArchiver.archivedData(withRootObject: object)
        return Subject(name, isOurs: true) { _ in
            try KeyedUnarchiver.unarchivedObject(
                ofClass: T.self,
                allowing: [EncodableCoordinate.self],
                from: archive
            )
        }
    }

    private func unarchivers<T>(of object: T, allowing classes: [AnyClass] = []) throws -> [Subject] {
        let archive = try KeyedArchiver.archivedData(withRootObject: object)
        let foundationArchive = try FoundationArchive.write(object)
        return [
            Subject("KeyedUnarchiver", isOurs: true) { _ in
                try KeyedUnarchiver.unarchivedObject(ofClass: T.self, allowing: classes, from: archive)
            },
            Subject("NSKeyedUnarchiver") { _ in
                try FoundationArchive.read(T.self, from: foundationArchive)
            },
        ]
    }
}
