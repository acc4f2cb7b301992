import Foundation
import KeyedArchive
import SequentialArchive
import Testing
import TypedCache

/// The code of the page on porting, from files of `NSArchiver` to a cache.
struct PortingTests {
    @Test("Files of NSArchiver become entries of a cache") func files() throws {
        let workspace = try Workspace()
        let file = workspace.url.appending(path: "ada.person")
        // As an Objective-C class named Person wrote it.
        let stream = TypedStream(
            groups: [.init(types: "@", values: [.reference(0)])],
            objects: [
                .instance(
                    .init(
                        classPlace: 1,
                        groups: [
                            .init(types: "@", values: [.reference(3)]), .init(types: "i", values: [.integer(36)]),
                        ]
                    )
                ),
                .classDescription(.init(name: "Person", superclass: 2)), .classDescription(.init(name: "NSObject")),
                .instance(.init(classPlace: 4, groups: [.init(types: "+", values: [.bytes(Data("Ada".utf8))])])),
                .classDescription(.init(name: "NSString", version: 1, superclass: 2)),
            ]
        )
        try stream.data().write(to: file)
        let people = try Cache<Person>(name: "people", directory: workspace.url)
        try move([file], to: people)
        let ada = try people.fetch(forKey: "ada")
        #expect(ada?.name == "Ada")
        #expect(ada?.age == 36)
    }

    private func move(_ files: [URL], to people: Cache<Person>) throws {
        for file in files {
            let unarchiver = try SequentialUnarchiver(
                forReadingWith: Data(contentsOf: file),
                classes: [Person.self]
            )
            unarchiver.decodeClassName("Person", asClassName: "CacheCommandTests.Person")
            let person = unarchiver.decodeObject() as? Person
            try unarchiver.finishDecoding()
            if let person { try people.save(person, forKey: file.deletingPathExtension().lastPathComponent) }
        }
    }
}

final class Person: NSObject, NSCoding, WrapperEncoder, Encoded {
    var name = ""
    var age: Int32 = 0
    var value: Person? { self }
    var encoder: Person { self }

    required init?(coder: NSCoder) {
        if coder.allowsKeyedCoding {
            name = coder.decodeObject(forKey: "name") as? String ?? ""
            age = coder.decodeInt32(forKey: "age")
        } else {
            name = coder.decodeObject() as? String ?? ""
            coder.decodeValue(ofObjCType: "i", at: &age)
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(age, forKey: "age")
    }
}
