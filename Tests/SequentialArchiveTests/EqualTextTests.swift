#if !canImport(Darwin)
    import Foundation
    import KeyedArchive
    import SequentialArchive
    import Testing

    /// Texts that are canonically equivalent and differ in their bytes, as members of one collection.
    ///
    /// Foundation on Linux ends the process when a table of its own that holds both grows; elsewhere it tells them apart.
    /// That depends on the seed of the hashes, so that there are many collections.
    @Suite struct EqualTextTests {
        private static let count = 300

        /// An archive of many collections, in which two texts of the same lengths stood for the equal ones.
        private func archive(_ collection: () -> Any) throws -> Data {
            let list = (0..<Self.count).map { _ in collection() }
            var bytes = Array(try SequentialArchiver.archivedData(withRootObject: list))
            for (former, new) in [("Qy", "\u{E9}"), ("Wxz", "e\u{301}")] {
                var found = 0
                while let range = bytes.firstRange(of: Array(former.utf8)) {
                    bytes.replaceSubrange(range, with: Array(new.utf8))
                    found += 1
                }
                #expect(found == Self.count)
            }
            return Data(bytes)
        }

        @Test(arguments: ["NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary"], [false, true])
        func theyAreOneMember(className: String, areMutable: Bool) throws {
            func text(_ text: String) -> AnyHashable { areMutable ? NSMutableString(string: text) : text }
            let data = try archive {
                switch className {
                case "NSSet": Set([text("Qy"), text("Wxz"), text("plain")])
                case "NSMutableSet": NSMutableSet(array: [text("Qy"), text("Wxz"), text("plain")])
                case "NSDictionary": [text("Qy"): 1, text("Wxz"): 1, text("plain"): 1]
                default: NSMutableDictionary(dictionary: [text("Qy"): 1, text("Wxz"): 1, text("plain"): 1])
                }
            }
            let list = try SequentialUnarchiver.unarchiveObject(with: data) as? [Any]
            #expect(list?.count == Self.count)
            for collection in list ?? [] {
                var found: [String] = []
                switch collection {
                case let set as NSSet: found = set.compactMap { $0 as? String }
                case let entries as NSDictionary: found = entries.allKeys.compactMap { $0 as? String }
                default: break
                }
                #expect(found.sorted() == ["plain", "\u{E9}"])
            }
        }
    }
#endif
