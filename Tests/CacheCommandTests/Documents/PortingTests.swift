import Foundation
import KeyedArchive
import SequentialArchive
import Testing
import TypedCache

/// The code of the page on porting, from files of `NSArchiver` to a cache.
struct PortingTests {
    @Test("Files of NSArchiver become entries of a cache") func files() throws {
        let workspace = try Workspace()
        let file = workspace.url.appending(path: "ada.customer")
        // As an Objective-C class named Customer wrote it.
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
                .classDescription(.init(name: "Customer", superclass: 2)),
                .classDescription(.init(name: "NSObject")),
                .instance(.init(classPlace: 4, groups: [.init(types: "+", values: [.bytes(Data("Ada".utf8))])])),
                .classDescription(.init(name: "NSString", version: 1, superclass: 2)),
            ]
        )
        try stream.data().write(to: file)
        let customers = try Cache<Customer>(name: "customers", directory: workspace.url)
        try move([file], to: customers)
        let ada = try customers.fetch(forKey: "ada")
        #expect(ada?.name == "Ada")
        #expect(ada?.age == 36)
    }

    private func move(_ files: [URL], to customers: Cache<Customer>) throws {
        for file in files {
            let unarchiver = try SequentialUnarchiver(
                forReadingWith: Data(contentsOf: file),
                classes: [Customer.self]
            )
            unarchiver.decodeClassName("Customer", asClassName: "CacheCommandTests.Customer")
            let customer = unarchiver.decodeObject() as? Customer
            try unarchiver.finishDecoding()
            if let customer { try customers.save(customer, forKey: file.deletingPathExtension().lastPathComponent) }
        }
    }
}

final class Customer: NSObject, NSCoding, WrapperEncoder, Encoded {
    var name = ""
    var age: Int32 = 0
    var value: Customer? { self }
    var encoder: Customer { self }

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
