import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Values from memory: callers share one value where that is safe, and get a value each where it is not.
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
        // A value that was read from disk is shared from then on.
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

    /// Nothing tells at run time that a class is Sendable.
    @Test func whereNothingIsKnownOfAClassItIsNotShared() throws {
        let parcels = try open(Parcel.self)
        #expect(!parcels.sharesValues)
        let parcel = Parcel(payload: Payload("x"))
        try parcels.save(parcel, forKey: "x")
        let first = try #require(try parcels.fetch(forKey: "x"))
        #expect(first.payload !== parcel.payload && first.payload.text == "x")
    }

    struct Plain: Codable, Encoded {
        struct Part: Codable { var numbers: [String: [Int?]], place: URL?, locale: Locale }
        var name: String, day: Date, part: Part, parts: Set<Int>, pair: [Part?], range: Range<Int>
    }
    struct Tree: Codable, Encoded { var children: [Tree] }
    struct Empty: Codable, Encoded {}
    enum Flag: String, Codable, Encoded { case on, off }
    enum Note: Codable, Encoded {
        case text(String)
        case number(Int)
    }
    enum Held: Codable, Encoded { case mutable(Mutable) }
    struct Deep: Codable, Encoded { var boxes: [String: [Box?]] }
    struct Noted: Codable, Encoded { var note: Note }
    final class Object: Codable, Encoded { var text = "" }
    final class Constant: Codable, Encoded, Sendable {}
    struct Page<Content: Codable>: Codable, Encoded { var items: [Content] }

    @Test func structuresOfShareableTypesAreShared() throws {
        #expect(try open(Plain.self).sharesValues)
        #expect(try open(Tree.self).sharesValues)
        #expect(try open(Empty.self).sharesValues)
        #expect(try open(Flag.self).sharesValues)
        #expect(try open(Page<Plain>.self).sharesValues)
        #expect(try open([String: [Plain?]].self).sharesValues)
    }

    @Test func whatMayReferToAnObjectIsNot() throws {
        #expect(try !open(Held.self).sharesValues)
        #expect(try !open(Deep.self).sharesValues)
        #expect(try !open(Object.self).sharesValues)
        #expect(try !open(Noted.self).sharesValues)
        #expect(try !open(Page<Box>.self).sharesValues)
        #expect(try !open([Object?].self).sharesValues)
        #expect(try !open([Int: Deep].self).sharesValues)
    }

    @Test func theArgumentDecides() throws {
        #expect(try open(Object.self, .shared).sharesValues)
        #expect(try open(Note.self, .shared).sharesValues)
        #expect(try !open(Parcel.self, .decodedEachTime).sharesValues)
        let objects = try open(Object.self, .shared)
        let object = Object()
        try objects.save(object, forKey: "x")
        #expect(try objects.fetch(forKey: "x") === object)
        let parcels = try open(Parcel.self, .decodedEachTime)
        let parcel = Parcel(payload: Payload("x"))
        try parcels.save(parcel, forKey: "x")
        #expect(try parcels.fetch(forKey: "x")?.payload !== parcel.payload)
    }

    @Test func theReasonNamesThePropertyOnce() throws {
        let reason = try #require(SharingObstacle(to: Deep.self))
        #expect(reason.description.contains("Cache<Deep>"))
        #expect(reason.description.contains("property boxes.content is a class, Mutable"))
        #expect(try #require(SharingObstacle(to: Object.self)).description.contains("it is a class"))
        struct Unknown: Codable, Encoded { var object: Mutable }
        let news = try #require(SharingObstacle(to: Unknown.self))
        #expect(news.isNews())
        #expect(!news.isNews())
    }

    private func open<Value: Encoded>(
        _ type: Value.Type,
        _ values: ValueSharing = .automatic
    ) throws -> Cache<Value> where Value.Wrapper.Value == Value {
        try Cache<Value>(name: "cache", directory: directory.url, settings: CacheSettings(valueSharing: values))
    }
}

/// Public, so not Sendable by itself.
public struct PublicRecord: Codable, Encoded {
    var name: String
    var owner: Owner?
    public struct Owner: Codable { var mail: [String] }
}

extension SharingTests {
    @Test func aPublicStructureIsShared() throws {
        #expect(try Cache<PublicRecord>(name: "cache", directory: directory.url).sharesValues)
        #expect(try open(PublicRecord.self).sharesValues)
    }

    /// Where a type is known to be Sendable, it is not looked into.
    @Test func whatIsKnownToBeSendableIsShared() throws {
        #expect(try Cache<Note>(name: "cache", directory: directory.url).sharesValues)
        #expect(try Cache<Constant>(name: "cache", directory: directory.url).sharesValues)
        func openSendable<Value: Encoded & Sendable>(_ type: Value.Type) throws -> Cache<Value>
        where Value.Wrapper.Value == Value {
            try Cache<Value>(name: "cache", directory: directory.url)
        }
        #expect(try openSendable(Note.self).sharesValues)
        #expect(try !open(Note.self).sharesValues)
    }
}
