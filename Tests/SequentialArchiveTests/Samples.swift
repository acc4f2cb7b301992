import Foundation
import SequentialArchive

enum Samples {
    /// A stream with a value of every type, a cycle, and shared strings and classes.
    static let everyKind = TypedStream(
        groups: [
            .init(types: "@", values: [.reference(0)]),
            .init(
                types: "cCsSiIlLqQB",
                values: [
                    .integer(-128), .integer(255), .integer(-32_768), .integer(65_535), .integer(-2_147_483_648),
                    .integer(4_294_967_295), .integer(-1), .integer(3_000_000_000), .integer(.min), .unsigned(.max),
                    .integer(1),
                ]
            ),
            .init(types: "ffdd", values: [.integer(3), .float(0.1), .integer(-70_000), .double(-0.0)]),
            .init(types: "*", values: [.reference(3)]),
            .init(types: "*", values: [.reference(3)]),
            .init(types: "#", values: [.reference(1)]),
            .init(types: ":", values: [.name(Data("setName:".utf8))]),
            .init(types: "%:", values: [.name(Data("setName:".utf8)), .name(nil)]),
            .init(types: "[4c]", values: [.bytes(Data([1, 0x84, 0x85, 0x86]))]),
            .init(
                types: "[2{?=if}]",
                values: [
                    .array([.structure([.integer(1), .float(0.5)]), .structure([.integer(-5), .integer(2)])])
                ]
            ),
            .init(
                types: "{_NSRect={_NSPoint=ff}{_NSSize=ff}}",
                values: [
                    .structure([.structure([.integer(1), .integer(2)]), .structure([.integer(3), .float(4.5)])])
                ]
            ),
            .init(types: "!i", values: [.omitted, .integer(7)]),
            .init(types: "+", values: [.bytes(nil)]),
        ],
        objects: [
            .instance(
                .init(
                    classPlace: 1,
                    groups: [
                        .init(types: "@", values: [.reference(0)]),
                        .init(types: "+", values: [.bytes(Data("caf\u{202e}".utf8))]),
                        .init(types: "@", values: [.reference(nil)]),
                    ]
                )
            ),
            .classDescription(.init(name: "Zoo", version: 3, superclass: 2)),
            .classDescription(.init(name: "NSObject")),
            .cString(Data("hello".utf8)),
        ]
    )
}
