import TestSupport
import Testing

@testable import RedisWire

@Suite("What nodes say of their cluster")
struct ClusterTopologyTests {
    private typealias Answers = ClusterAnswers

    private static let asked = RedisEndpoint.tcp(host: "10.0.0.1", port: 7001)

    private static func read(_ ranges: [RedisValue], nodes: String = "", information: String = "") throws
        -> ClusterTopology
    {
        try ClusterTopology(
            [.array(ranges), Answers.text(nodes), Answers.text(information)],
            toldBy: asked
        )
    }

    private static func slot(_ number: Int) throws -> HashSlot { try #require(HashSlot(number: number)) }

    @Test("A node that knows no slots is refused, not waited for")
    func aNodeWithoutSlotsIsRefused() {
        let node = RedisEndpoint.tcp(host: "127.0.0.1", port: 7_000)
        let error = #expect(throws: RedisError.self) { try ClusterTopology([.array([])], toldBy: node) }
        #expect(error?.code == .refused)
    }

    @Test("Slots have the masters that are named, and others none")
    func slots() throws {
        let (a, b) = (Answers.text("10.0.0.1"), Answers.text("::1"))
        let topology = try Self.read(
            [
                Answers.range(0, 99, nodes: Answers.address(a, 7001), Answers.address(b, 7009)),
                Answers.range(200, 200, nodes: Answers.address(b, 7002)),
                Answers.range(16_383, 16_383, nodes: Answers.address(a, 7001)),
                Answers.range(300, 301, nodes: Answers.address(Answers.text("?"), 7003)),
            ],
            nodes:
                "x 10.0.0.9:7004@17004,name9 master - 0 0 3 connected\ny :0@0 master,noaddr - 0 0 0 disconnected\nrubbish\n",
            information: "cluster_state:fail\r\ncluster_current_epoch:12\r\n"
        )
        #expect(topology.masters == [.tcp(host: "10.0.0.1", port: 7001), .tcp(host: "::1", port: 7002)])
        #expect(topology.master(of: try Self.slot(99)) == .tcp(host: "10.0.0.1", port: 7001))
        #expect(topology.master(of: try Self.slot(200)) == .tcp(host: "::1", port: 7002))
        #expect(topology.master(of: try Self.slot(16_383)) == .tcp(host: "10.0.0.1", port: 7001))
        for number in [100, 199, 201, 300, 16_382] { #expect(topology.master(of: try Self.slot(number)) == nil) }
        for (host, port) in [("::1", 7009), ("10.0.0.9", 7004), ("name9", 7004)] {
            #expect(topology.knows(.tcp(host: host, port: UInt16(port))))
        }
        #expect(!topology.knows(.tcp(host: "10.0.0.8", port: 7004)) && !topology.knows(.tcp(host: "?", port: 7003)))
        #expect(!topology.isUp && topology.epoch == 12)
    }

    @Test("A node without a host is the one that was asked", arguments: [RedisValue.null, .bulk([])])
    func ownHost(host: RedisValue) throws {
        let topology = try Self.read([Answers.range(0, 16_383, nodes: Answers.address(host, 7007))])
        #expect(topology.masters == [.tcp(host: "10.0.0.1", port: 7007)])
    }

    @Test(
        "Slots that cannot be a cluster's are refused",
        arguments: [
            [Answers.range(0, 16_384, nodes: Answers.address(Answers.text("a")))],
            [Answers.range(-1, 5, nodes: Answers.address(Answers.text("a")))],
            [Answers.range(5, 4, nodes: Answers.address(Answers.text("a")))],
            [Answers.range(0, .max, nodes: Answers.address(Answers.text("a")))],
            [
                Answers.range(0, 5, nodes: Answers.address(Answers.text("a"))),
                Answers.range(5, 6, nodes: Answers.address(Answers.text("b"))),
            ],
            [.array([.integer(0), .integer(1)])], [.integer(3)], [.array([])], [.null],
            (0..<1_100).map { Answers.range($0, $0, nodes: Answers.address(Answers.text("host\($0)"))) },
        ]
    )
    func hostile(ranges: [RedisValue]) {
        let error = #expect(throws: RedisError.self) { try Self.read(ranges) }
        #expect(error?.code == .malformed)
    }

    @Test(
        "Addresses that cannot be one are not a node's",
        arguments: [
            Answers.address(Answers.text("a b")), Answers.address(Answers.text("a\r\n")),
            Answers.address(.integer(3)),
            Answers.address(Answers.text("a"), 0), Answers.address(Answers.text("a"), 65_536), .null, .array([]),
            Answers.address(Answers.text(String(repeating: "a", count: 254))), Answers.address(.bulk([0xFF])),
            .array([Answers.text("a"), Answers.text("port")]),
        ]
    )
    func addresses(node: RedisValue) throws {
        let topology = try Self.read([Answers.range(0, 16_383, nodes: node, node)])
        let zero = try Self.slot(0)
        #expect(topology.masters.isEmpty && topology.master(of: zero) == nil)
    }

    @Test("Anything in place of an answer throws or is left out")
    func rubbish() throws {
        var random = SeededGenerator(seed: 7)
        func value(_ depth: Int) -> RedisValue {
            switch Int.random(in: 0..<(depth > 3 ? 4 : 6), using: &random) {
            case 0: .integer(Int64.random(in: -2...20_000, using: &random))
            case 1:
                Answers.text(["", "h", "myself", "a:1@2,b", "x y z", ":", "@"].randomElement(using: &random) ?? "")
            case 2: .null
            case 3: .error(RedisReplyError(message: "ERR"))
            default: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth + 1) })
            }
        }
        for _ in 0..<5_000 {
            let answers = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(0) }
            _ = try? ClusterTopology(answers, toldBy: Self.asked)
        }
    }

    @Test(
        "Refusals are read",
        arguments: [
            (
                "MOVED 3999 127.0.0.1:6381",
                ClusterRefusal.moved(HashSlot(number: 3999)!, .tcp(host: "127.0.0.1", port: 6381))
            ),
            ("MOVED 0 :6381", .moved(HashSlot(number: 0)!, .tcp(host: "10.0.0.1", port: 6381))),
            ("ASK 1 ::1:6381", .ask(.tcp(host: "::1", port: 6381))), ("TRYAGAIN Multiple keys", .notNow),
            ("CLUSTERDOWN The cluster is down", .down), ("LOADING Redis is loading", .down), ("ERR other", nil),
            ("MOVED 16384 a:1", nil), ("MOVED x a:1", nil), ("MOVED 1", nil), ("ASK 1 a", nil), ("ASK 1 a:0", nil),
            ("MOVED 1 a:b", nil), ("MOVED 1 ?:6381", nil), ("MOVED", nil),
        ]
    )
    func refusals(message: String, refusal: ClusterRefusal?) {
        #expect(ClusterRefusal(.error(RedisReplyError(message: message)), by: Self.asked) == refusal)
        #expect(ClusterRefusal(.simple(message), by: Self.asked) == nil)
    }

    @Test("Masters that have lost slots are found")
    func losers() throws {
        let three = try Answers.topology(masters: 3, others: [7])
        #expect(three.losers(in: three).isEmpty)
        var moved = three
        let (zero, one) = (try Self.slot(0), try Self.slot(1))
        let isMoved = moved.move(zero, to: Answers.node(7))
        #expect(isMoved)
        #expect(three.losers(in: moved) == [Answers.node(0)] && moved.losers(in: three) == [Answers.node(7)])
        #expect(moved.master(of: zero) == Answers.node(7) && moved.master(of: one) == Answers.node(0))
        let isMovedFurther = moved.move(zero, to: Answers.node(8))
        #expect(!isMovedFurther)
        let two = try Answers.topology(masters: 2)
        #expect(three.losers(in: two) == [Answers.node(1), Answers.node(2)])
    }
}
