import Foundation
import TestSupport
import Testing

@testable import ModelCache

@Suite struct HTTPHeaderTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("sun nov 16 08:49:37 1994", 784_975_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        // The year 26 is the present one, 76 is 50 years ahead, 77 is 49 years ago.
        ("Friday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
        ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
    ]) func datesOfEachFormAreRead(_ text: String, _ seconds: Double) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        "", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun Nov 06 08:49:37 1994 GMT", "Sund, 06 Nov 1994 08:49:37 GMT",
        "Sun, ６6 Nov 1994 08:49:37 GM", "Sunday, 06-Nov-1994 08:49:37 GMT",
    ]) func anythingElseIsNoDate(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test func directivesAreReadByTheRules() {
        let control = CacheControl(
            #"ext="a\"b, no-store", Max-Age="60" , must-revalidate,,stale-if-error=9, private="x, no-cache""#
        )
        #expect(control.maxAge == 60)
        #expect(control.isMustRevalidate)
        #expect(control.staleIfError == 9)
        #expect(control.allowsStoring)
        #expect(!control.isNoStore)
        #expect(!control.isNoCache)
        #expect(control.staleWhileRevalidate == nil)
        // A quote that is never closed hides nothing.
        #expect(CacheControl(#"a="b, no-store"#).isNoStore)
        #expect(CacheControl("no-storey").isNoStore == false)
        #expect(CacheControl("max-age").maxAge == 0)
        #expect(CacheControl("max-age=").maxAge == 0)
        #expect(CacheControl("max-age=\"").maxAge == 0)
        #expect(CacheControl("max-age=" + String(repeating: "9", count: 10_000)).maxAge == 1 << 31)
        #expect(CacheControl("stale-while-revalidate=x").staleWhileRevalidate == 0)
    }

    @Test func entityTagsThatMeanMoreThanOneThingAreNotSent() {
        func tag(_ text: String) -> String? {
            Validators(of: ["ETag": text], representation: "GET /", lifetime: nil, now: Self.now)?.entityTag
        }
        for text in ["\"a\"", "W/\"a\"", "\"\"", "a", "\"a,b\"", "\"ü\""] { #expect(tag(text) == text) }
        for text in ["", "*", "\"a\", \"b\"", "a,b", "W\"a\"", "w/\"a\"", "\"a", "\"a\r\nx: y\"", "\"a b\""] {
            #expect(tag(text) == nil, "\(text)")
        }
        #expect(tag("\"" + String(repeating: "a", count: 1_023) + "\"") == nil)
        #expect(tag("\"*\"") == "\"*\"")
    }

    @Test(arguments: seeds(0..<4)) func hostileHeadersAreBoundedAndNeverTrap(_ seed: Int) {
        var dice = SeededGenerator(seed: seed)
        let pieces = [
            "max-age", "=", "\"", "\\", ",", " ", "no-store", "-", "9", "18446744073709551616", "*", ";", "ü",
            "\u{0}",
            "Thu", "Jan", "GMT", ":", "1e309", "W/", "\t", "stale-if-error", "Expires", "00", "🧑‍🚀",
        ]
        for _ in 0..<1_000 {
            var headers = ModelHeaders()
            for name in ["cache-control", "age", "date", "expires", "etag", "last-modified", "vary", "pragma"] {
                let count = Int.random(in: 0...12, using: &dice)
                headers[name] = (0..<count).map { _ in pieces.randomElement(using: &dice) ?? "" }.joined()
            }
            let request = ModelRequest.get("/", headers: headers)
            let lifetime = ResponseLifetime(
                of: ModelResponse(headers: headers),
                to: request,
                requestedAt: Self.now,
                receivedAt: Self.now
            )
            var state = EntryState(
                lifetime,
                generation: 1,
                revision: Revision(1),
                receivedAt: Self.now,
                fresh: .zero
            )
            let first = state.freshUntil ?? .distantFuture
            #expect((Self.now...Self.now.addingTimeInterval(Double(1 << 31))).contains(first))
            state.renew(lifetime, generation: 1, revision: Revision(2), receivedAt: Self.now, fresh: .zero)
            #expect(
                (Self.now...Self.now.addingTimeInterval(Double(1 << 31))).contains(
                    state.freshUntil ?? .distantFuture
                )
            )
            #expect(state.varying.count <= 33)
        }
        let names = (0..<10_000).map { "h\($0)" }.joined(separator: ",")
        #expect(Variants.of(names, .get("/")) == ["*": ""])
    }

    /// After a quote that is never closed no other one looks for its end.
    @Test(.timeLimit(.minutes(1 * slowness))) func quotesThatAreNeverClosedTakeTheTimeOfTheHeader() {
        let control = CacheControl("max-age=1, x=\"" + String(repeating: "\\\"", count: 100_000) + ", no-store")
        #expect(control.maxAge == 1)
        #expect(control.isNoStore)
    }

    @Test func aParameterIsNoPartOfAnother() {
        let one = ModelRequest.get("/", query: ["a": "1&b=2"])
        let two = ModelRequest.get("/", query: ["a": "1", "b": "2"])
        #expect(one.representation != two.representation)
        #expect(two.representation == ModelRequest.get("/", query: ["b": "2", "a": "1"]).representation)
        let ordered = ModelRequest.get("/", query: ["a": "1", "a": "2"])
        #expect(ordered.representation != ModelRequest.get("/", query: ["a": "2", "a": "1"]).representation)
    }

    @Test func secretsOfRequestsAreNotKept() {
        let request = ModelRequest.get("/", headers: ["Authorization": "Bearer secret"])
        let varying = Variants.of("Authorization, X", request)
        #expect(Set(varying.keys) == ["authorization", "x"])
        #expect(!varying.values.contains { $0.contains("secret") })
        #expect(Variants.match(varying, request))
        #expect(!Variants.match(varying, .get("/", headers: ["Authorization": "Bearer other"])))
        #expect(!Variants.match(varying, .get("/", headers: ["Authorization": "Bearer secret", "X": ""])))
    }
}
