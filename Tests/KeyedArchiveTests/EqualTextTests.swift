#if !canImport(Darwin)
    import Foundation
    import Testing

    @testable import KeyedArchive

    /// Texts that are canonically equivalent and differ in their bytes, as members of one collection.
    ///
    /// Foundation on Linux ends the process when a table of its own that holds both grows; elsewhere it tells them apart.
    /// That depends on the seed of the hashes, so that there are many collections.
    @Suite struct EqualTextTests {
        private static let count = 300

        private static let texts = ["plain", "\u{E9}", "e\u{301}", "K", "\u{212A}", "rest"]

        /// An archive of many collections of the texts, each new object or the same.
        private func archive(_ className: String, areMutable: Bool) throws -> Data {
            let archiver = KeyedArchiver()
            func member(_ text: String) -> ArchiveWriter.UID {
                archiver.uid(of: areMutable ? NSMutableString(string: text) as Any : text)
            }
            func collection() -> ArchiveWriter.UID {
                let info = ArchivedClass(name: className)
                switch className {
                case "NSSet", "NSMutableSet": return archiver.collection(info) { $0 = Self.texts.map(member) }
                case "NSDictionary", "NSMutableDictionary":
                    return archiver.dictionary(info) { ($0, $1) = (Self.texts.map(member), Self.texts.map(member)) }
                default:
                    return archiver.container(info, of: nil) {
                        archiver.encode(Self.texts.count, forKey: "NS.count")
                        for (index, text) in Self.texts.enumerated() {
                            let member = archiver.writer.reference(to: member(text))
                            for key in ["NS.object.\(index)", "NS.object\(index)"] {
                                archiver.writer.set(key, member)
                            }
                            archiver.encode(1, forKey: "NS.count\(index)")
                        }
                    }
                }
            }
            let root = archiver.collection(ArchivedClass(name: "NSArray")) { list in
                for _ in 0..<Self.count { list.append(collection()) }
            }
            archiver.writer.set("root", archiver.writer.reference(to: root))
            return try archiver.encodedData
        }

        @Test(
            arguments: [
                "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSCountedSet", "NSDictionary",
                "NSMutableDictionary",
            ],
            [false, true]
        )
        func theyAreOneMember(className: String, areMutable: Bool) throws {
            let data = try archive(className, areMutable: areMutable)
            let list = try KeyedUnarchiver.unarchivedObject(ofClass: Any.self, from: data) as? [Any]
            #expect(list?.count == Self.count)
            let expected = ["K", "plain", "rest", "\u{E9}"]
            for collection in list ?? [] {
                var found: [String] = []
                switch collection {
                case let set as NSSet: found = set.compactMap { $0 as? String }
                case let set as NSOrderedSet: found = set.array.compactMap { $0 as? String }
                case let entries as NSDictionary: found = entries.allKeys.compactMap { $0 as? String }
                default: break
                }
                #expect(found.sorted() == expected)
            }
        }

        @Test func theLastValueOfAKeyCounts() throws {
            let archiver = KeyedArchiver()
            let uid = archiver.dictionary(ArchivedClass(name: "NSDictionary")) { keys, values in
                keys = ["a", "\u{E9}", "e\u{301}"].map { archiver.uid(of: NSMutableString(string: $0)) }
                values = [1, 2, 3].map { archiver.uid(of: $0) }
            }
            archiver.writer.set("root", archiver.writer.reference(to: uid))
            let read = try KeyedUnarchiver.unarchivedObject(ofClass: Any.self, from: archiver.encodedData)
            let entries = try #require(read as? [AnyHashable: Any])
            #expect(entries.count == 2)
            #expect(entries[NSMutableString(string: "a")] as? Int == 1)
            #expect(entries[NSMutableString(string: "\u{E9}")] as? Int == 3)
        }
    }
#endif
