import Foundation
import Testing

@testable import TypedCache

/// What memory gives to whom: one value for all where that is safe, and everybody their own where it is not.
@Suite struct SharingTests {
    /// Immutable, so it may be shared.
    final class Payload: Codable, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    struct Parcel: Codable, Encoded, Sendable { let payload: Payload }

    final class Mutable: Codable {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// Not Sendable: a copy refers to the same object.
    struct Box: Codable, Encoded { let content: Mutable }

    private let directory = TestDirectory()

    @Test func sendableValuesAreShared() async throws {
        let parcels = try Cache<Parcel>(name: "cache", directory: directory.url)
        let parcel = Parcel(payload: Payload("x"))
        try await parcels.save(parcel, forKey: "x")
        for _ in 0..<2 {
            #expect(try await parcels.fetch(forKey: "x")?.payload === parcel.payload)
            #expect(try await parcels.fetch(forKeys: ["x"])["x"]?.payload === parcel.payload)
            #expect(try await parcels.fetch(forKey: "x") { throw CancellationError() }.payload === parcel.payload)
        }
        // What was read from disk is shared from then on.
        let others = try Cache<Parcel>(name: "cache", directory: directory.url)
        let first = try #require(try await others.fetch(forKey: "x"))
        #expect(first.payload !== parcel.payload && first.payload.text == "x")
        #expect(try await others.fetch(forKey: "x")?.payload === first.payload)
        #expect(others.statistics.memoryHits == 1 && others.statistics.diskHits == 1)
    }

    @Test func otherValuesAreDecodedAnewForEachFetch() throws {
        let boxes = try Cache<Box>(name: "cache", directory: directory.url)
        let box = Box(content: Mutable("x"))
        try boxes.save(box, forKey: "x")
        box.content.text = "changed by who saved it"
        for _ in 0..<3 {
            let fetched = try #require(try boxes.fetch(forKey: "x"))
            #expect(fetched.content.text == "x")
            fetched.content.text = "changed by who fetched it"
        }
        #expect(boxes.statistics.memoryHits == 3)
        try boxes.modify(forKey: "x") { $0?.content.text = "modified" }
        #expect(try boxes.fetch(forKey: "x")?.content.text == "modified")
    }

    @Test func otherValuesAreDecodedAnewForEachAsynchronousFetch() async throws {
        let zoo = try Cache<Order>(name: "cache", directory: directory.url)
        let order = SubFamily(order: "Carnivore", family: "Felid")
        try await zoo.save(order, forKey: "x")
        order.order = "changed"
        var seen: [Order] = [order]
        for source in [zoo, try Cache<Order>(name: "cache", directory: directory.url)] {
            for _ in 0..<2 {
                let found = try await [
                    source.fetch(forKey: "x"), source.fetch(SubFamily.self, forKey: "x"),
                    source.fetch(forKeys: ["x"])["x"],
                ]
                for case let found? in found {
                    #expect(found.order == "Carnivore" && (found as? SubFamily)?.family == "Felid")
                    #expect(!seen.contains { $0 === found })
                    found.order = "changed"
                    seen.append(found)
                }
            }
        }
        #expect(seen.count == 13)
        try await zoo.save(object: order)
        #expect(try await zoo.fetchObject()?.order == "changed")
        try await zoo.modify(forKey: "x") { $0?.order = "modified" }
        #expect(try await zoo.fetch(forKey: "x")?.order == "modified")
        #expect(try await zoo.remove(forKey: "x"))
        #expect(try await zoo.fetch(forKey: "x") == nil)
    }

    /// A type that is generic over its cache's values does not know them to be Sendable: then they are not shared.
    @Test func whereNothingIsKnownOfTheValuesTheyAreNotShared() throws {
        func open<Value: Encoded>(_ type: Value.Type) throws -> Cache<Value> where Value.Wrapper.Value == Value {
            try Cache<Value>(name: "cache", directory: directory.url)
        }
        let parcels = try open(Parcel.self)
        let parcel = Parcel(payload: Payload("x"))
        try parcels.save(parcel, forKey: "x")
        let first = try #require(try parcels.fetch(forKey: "x"))
        #expect(first.payload !== parcel.payload && first.payload.text == "x")
    }
}
