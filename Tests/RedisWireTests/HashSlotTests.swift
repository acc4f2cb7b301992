import RedisServers
import TestSupport
import Testing

@testable import RedisWire

@Suite("Slots of keys")
struct HashSlotTests {
    @Test(
        "Keys have the slots of the specification",
        arguments: [
            ("123456789", 0x31C3), ("foo", 12_182), ("bar", 5_061), ("foo{bar}{zap}", 5_061), ("", 0),
            ("{}", 15_257),
        ]
    )
    func known(key: String, slot: Int) { #expect(HashSlot(ofKey: key.utf8).number == slot) }

    @Test("A tag in braces decides alone", arguments: ["{k}", "a{k}b", "a{k}{other}", "a}{k}"])
    func tags(key: String) { #expect(HashSlot(ofKey: key.utf8) == HashSlot(ofKey: "k".utf8)) }

    @Test(
        "A server gives each key the same slot",
        .enabled(if: RedisServer.isInstalled, "redis-server is not installed")
    )
    func server() async throws {
        let cluster = try await RedisCluster(masters: 1)
        let connection = try RedisConnection(cluster.endpoints[0])
        var random = SeededGenerator(seed: 1)
        let keys = (0..<2_000).map { _ in
            (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Array("{}{}ab\0\u{7F}".utf8).randomElement(using: &random)!
            }
        }
        let slots = try await connection.send(keys.map { ["CLUSTER", "KEYSLOT", .bytes($0)] })
        for (key, slot) in zip(keys, slots) {
            #expect(slot.integer == Int64(HashSlot(ofKey: key).number), "\(key)")
        }
    }

    @Test(
        "Commands belong to the slot of their keys",
        arguments: [
            (["GET", "foo"], 12_182), (["set", "foo", "bar"], 12_182),
            (["EVAL", "return 1", "2", "{foo}a", "foo", "x"], 12_182),
            (["OBJECT", "ENCODING", "foo"], 12_182), (["UNLINK", "{foo}1", "{foo}2"], 12_182),
        ]
    )
    func places(words: [String], slot: Int) {
        let command = RedisCommand(words.map { .text($0) })
        #expect(command.place == HashSlot(number: slot).map { .slot($0) })
    }

    @Test(
        "Commands without keys belong anywhere",
        arguments: [["PING"], ["SCAN", "0"], ["EVAL", "return 1", "0"], ["GET"], []]
    )
    func anywhere(words: [String]) { #expect(RedisCommand(words.map { .text($0) }).place == .anywhere) }

    @Test(
        "Keys of several slots and transactions are refused",
        arguments: [
            (["DEL", "foo", "bar"], "CROSSSLOT"), (["EVAL", "", "2", "foo", "bar"], "CROSSSLOT"),
            (["multi"], "ERR"),
        ]
    )
    func nowhere(words: [String], code: String) {
        guard case .nowhere(let refusal) = RedisCommand(words.map { .text($0) }).place else {
            Issue.record("it has a place")
            return
        }
        #expect(refusal.code == code)
    }

    @Test("A script's count of keys may be anything", arguments: ["x", "-1", "3", "9223372036854775807"])
    func counts(text: String) { #expect(RedisCommand(["EVAL", "", .text(text), "a"]).place == .anywhere) }
}
