import Foundation
import KeyedArchive

/// Archiving a wrapper of two fields.
enum CoordinateWork {
    static func comparisons() throws -> [Comparison] {
        let coordinate = Coordinate(latitude: 52.52437, longitude: 13.41053)
        let wrapper = EncodableCoordinate(coordinate)
        let json = JSONEncoder()
        let jsonReader = JSONDecoder()
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        let listReader = PropertyListDecoder()

        let archive = try KeyedArchiver.archivedData(withRootObject: wrapper)
        let foundationArchive = try FoundationArchive.write(wrapper)
        let jsonText = try json.encode(coordinate)
        let propertyList = try list.encode(coordinate)
        return [
            Comparison(
                work: "archive a wrapper of 2 fields",
                contenders: [
                    Contender("KeyedArchiver") { _ in try KeyedArchiver.archivedData(withRootObject: wrapper) },
                    Contender("NSKeyedArchiver") { _ in try FoundationArchive.write(wrapper) },
                    Contender("JSONEncoder") { _ in try json.encode(coordinate) },
                    Contender("PropertyListEncoder") { _ in try list.encode(coordinate) },
                ]
            ),
            Comparison(
                work: "unarchive a wrapper of 2 fields",
                contenders: [
                    Contender("KeyedUnarchiver") { _ in
                        try KeyedUnarchiver.unarchivedObject(ofClass: EncodableCoordinate.self, from: archive)
                    },
                    Contender("NSKeyedUnarchiver") { _ in
                        try FoundationArchive.read(EncodableCoordinate.self, from: foundationArchive)
                    },
                    Contender("JSONDecoder") { _ in try jsonReader.decode(Coordinate.self, from: jsonText) },
                    Contender("PropertyListDecoder") { _ in
                        try listReader.decode(Coordinate.self, from: propertyList)
                    },
                ]
            ),
        ]
    }
}
