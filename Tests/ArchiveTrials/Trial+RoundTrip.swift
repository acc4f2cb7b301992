import Foundation
import KeyedArchive

extension Trial {
    /// Archives every object that can be unarchived, and checks that the second archive reads the same.
    public static func roundTrip(_ data: Data) throws(TrialFailure) {
        defer { Branch.dissolveAll() }
        try objects(data)
        try value(Record.self, data)
        try value([Record].self, data)
        try value(Record.Form.self, data)
        try value(Dog.self, data)
        try value([String: [Int]].self, data)
        try value([Double?].self, data)
    }

    private static func objects(_ data: Data) throws(TrialFailure) {
        guard let first = object(data), let wanted = Description.of(first) else { return }
        let copy: Data
        do throws(ArchiveError) {
            copy = try KeyedArchiver.archivedData(withRootObject: first)
        } catch {
            // Reading allows some levels more, and graphs that run in circles can come from nowhere here.
            if error.code == .limitExceeded { return }
            throw TrialFailure("what was read cannot be archived: \(error)")
        }
        let second: Any?
        do throws(ArchiveError) {
            second = try KeyedUnarchiver.unarchivedObject(ofClass: Any.self, allowing: classes, from: copy)
        } catch {
            throw TrialFailure("what was archived cannot be read: \(error)")
        }
        let found = second.flatMap { Description.of($0) }
        if found != wanted { throw TrialFailure("archived: \(wanted)\nread: \(found ?? "far more")") }
    }

    private static func object(_ data: Data) -> Any? {
        // Refused bytes are no business of this trial.
        (try? KeyedUnarchiver.unarchivedObject(ofClass: Any.self, allowing: classes, from: data)) ?? nil
    }

    private static func value<T: Codable>(_ type: T.Type, _ data: Data) throws(TrialFailure) {
        guard let first = try? KeyedUnarchiver.unarchivedValue(of: type, from: data) else { return }
        let copy: Data
        do throws(ArchiveError) {
            copy = try KeyedArchiver.archivedData(encoding: first)
        } catch {
            if error.code == .limitExceeded { return }
            throw TrialFailure("a \(type) that was read cannot be archived: \(error)")
        }
        let second: T
        do throws(ArchiveError) {
            second = try KeyedUnarchiver.unarchivedValue(of: type, from: copy)
        } catch {
            throw TrialFailure("a \(type) that was archived cannot be read: \(error)")
        }
        // Another coder judges: JSON's, which also knows numbers that are none.
        guard let wanted = json(first) else { return }
        if json(second) != wanted { throw TrialFailure("a \(type) is not what was archived") }
    }

    private static func json(_ value: some Encodable) -> Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.timeIntervalSinceReferenceDate.bitPattern)
        }
        return try? encoder.encode(value)
    }
}
