import BenchmarkKit
import Foundation
import PropertyLists

/// Reading and writing property lists of 1,000 dictionaries of eight fields.
struct PropertyListSuite: Suite {
    static let name = "plist"
    static let summary = "property lists, beside Foundation's serialization and coders, and Python's plistlib"

    private typealias Foundations = PropertyListSerialization

    func run(_ context: Context) throws {
        let objects = City.thousand.map { city -> [String: Any] in
            [
                "geonameid": city.geonameid, "name": city.name, "latitude": city.latitude,
                "longitude": city.longitude, "countrycode": city.countrycode, "population": city.population,
                "timezone": city.timezone, "isCapital": city.population % 7 == 0,
            ]
        }
        let texts = City.thousand.map { city -> [String: Any] in
            ["name": city.name, "countrycode": city.countrycode, "alternatives": [city.timezone, city.admin1code]]
        }
        for (form, ours, theirs) in [
            ("binary", PropertyLists.PropertyListFormat.binary, Foundations.PropertyListFormat.binary),
            ("XML", .xml, .xml),
        ] {
            let list = try Foundations.data(fromPropertyList: objects, format: theirs, options: 0)
            try read(context, list, form: form)
            try write(context, objects, form: form, ours: ours, theirs: theirs)
            try code(context, form: form, ours: ours, theirs: theirs)
            try python(context, list, objects: objects, form: form, ours: ours)
        }
        let list = try PropertyListObjects.data(fromPropertyList: texts, format: .openStep)
        try read(context, list, form: "OpenStep")
    }

    private func read(_ context: Context, _ list: Data, form: String) throws {
        try context.compare(
            work: "read a list, form \(form)",
            subjects: [
                Subject("PropertyListObjects", isOurs: true) { _ in
                    try PropertyListObjects.propertyList(from: list)
                },
                Subject("PropertyListSerialization") { _ in try Foundations.propertyList(from: list, format: nil) },
            ]
        )
        try context.compare(
            work: "read a list as a tree of values, form \(form)",
            subjects: [
                Subject("PropertyList", isOurs: true) { _ in try PropertyList(list) },
                Subject("PropertyListSerialization") { _ in try Foundations.propertyList(from: list, format: nil) },
            ]
        )
    }

    private func write(
        _ context: Context,
        _ objects: [[String: Any]],
        form: String,
        ours: PropertyLists.PropertyListFormat,
        theirs: PropertyListSerialization.PropertyListFormat
    ) throws {
        try context.compare(
            work: "write a list, form \(form)",
            subjects: [
                Subject(
                    "PropertyListObjects",
                    isOurs: true,
                    bytes: try PropertyListObjects.data(fromPropertyList: objects, format: ours).count
                ) { _ in
                    try PropertyListObjects.data(fromPropertyList: objects, format: ours)
                },
                Subject("PropertyListSerialization") { _ in
                    try Foundations.data(fromPropertyList: objects, format: theirs, options: 0)
                },
            ]
        )
    }

    private func code(
        _ context: Context,
        form: String,
        ours: PropertyLists.PropertyListFormat,
        theirs: PropertyListSerialization.PropertyListFormat
    ) throws {
        let coder = PropertyListCoder(outputFormat: ours)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = theirs
        let decoder = PropertyListDecoder()
        let list = try encoder.encode(City.thousand)
        try context.compare(
            work: "encode 1,000 Codable values, form \(form)",
            subjects: [
                Subject("PropertyListCoder", isOurs: true) { _ in try coder.encode(City.thousand) },
                Subject("PropertyListEncoder") { _ in try encoder.encode(City.thousand) },
            ]
        )
        try context.compare(
            work: "decode 1,000 Codable values, form \(form)",
            subjects: [
                Subject("PropertyListCoder", isOurs: true) { _ in try coder.decode([City].self, from: list) },
                Subject("PropertyListDecoder") { _ in try decoder.decode([City].self, from: list) },
            ]
        )
    }

    private func python(
        _ context: Context,
        _ list: Data,
        objects: [[String: Any]],
        form: String,
        ours: PropertyLists.PropertyListFormat
    ) throws {
        let file = try context.makeFolder("plist-\(form)").appending(path: "list")
        try list.write(to: file)
        let script = PackageFolder.url.appending(path: "Peers/plist_times.py").path
        let answer = Program.output(of: ["python3", script, file.path], hidesErrors: true)
        let theirs = (answer ?? "").split(separator: "\n").compactMap { Double($0) }
        let works: [(String, () throws -> Void)] = [
            ("read", { blackHole(try PropertyListObjects.propertyList(from: list)) }),
            ("write", { blackHole(try PropertyListObjects.data(fromPropertyList: objects, format: ours)) }),
        ]
        for (index, (verb, work)) in works.enumerated() {
            let name = "\(verb) a list in a process of its own, form \(form)"
            let clock = ContinuousClock()
            let samples = try (0..<9).map { _ in try clock.measure { try work() } / .milliseconds(1) }
            context.value(work: name, subject: "PropertyListObjects", isOurs: true, unit: "ms", samples: samples)
            if theirs.count == works.count {
                context.value(work: name, subject: "Python plistlib", unit: "ms", samples: [theirs[index]])
            } else {
                context.unavailable(work: name, subject: "Python plistlib", reason: "python3 is not here")
            }
        }
    }
}
