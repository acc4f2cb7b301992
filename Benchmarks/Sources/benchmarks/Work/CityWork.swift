import Foundation
import KeyedArchive

/// Archiving a Codable value of eight fields; Foundation's archiver gets an `NSCoding` class with the same ones.
enum CityWork {
    static func comparisons() throws -> [Comparison] {
        let city = City.thousand[362]
        let wrapper = EncodableCity(city)
        let json = JSONEncoder()
        let jsonReader = JSONDecoder()
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        let listReader = PropertyListDecoder()

        let archive = try KeyedArchiver.archivedData(encoding: city)
        let foundationArchive = try FoundationArchive.write(wrapper)
        let jsonText = try json.encode(city)
        let propertyList = try list.encode(city)
        return [
            Comparison(
                work: "archive a Codable value of 8 fields",
                contenders: [
                    Contender("KeyedArchiver") { _ in try KeyedArchiver.archivedData(encoding: city) },
                    Contender("NSKeyedArchiver") { _ in try FoundationArchive.write(wrapper) },
                    Contender("JSONEncoder") { _ in try json.encode(city) },
                    Contender("PropertyListEncoder") { _ in try list.encode(city) },
                ]
            ),
            Comparison(
                work: "unarchive a Codable value of 8 fields",
                contenders: [
                    Contender("KeyedUnarchiver") { _ in
                        try KeyedUnarchiver.unarchivedValue(of: City.self, from: archive)
                    },
                    Contender("NSKeyedUnarchiver") { _ in
                        try FoundationArchive.read(EncodableCity.self, from: foundationArchive)
                    },
                    Contender("JSONDecoder") { _ in try jsonReader.decode(City.self, from: jsonText) },
                    Contender("PropertyListDecoder") { _ in try listReader.decode(City.self, from: propertyList) },
                ]
            ),
        ]
    }
}
