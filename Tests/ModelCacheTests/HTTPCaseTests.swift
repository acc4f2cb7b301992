import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCacheTesting

@Suite struct HTTPCaseTests {
    @Test func thereAreEnoughOfThem() {
        #expect(HTTPCase.all.count >= 120)
        #expect(Set(HTTPCase.all.map(\.id)).count == HTTPCase.all.count)
    }

    @Test(arguments: HTTPCase.all) func theCacheKeepsTheRules(_ example: HTTPCase) async throws {
        let server = StubTransport()
        let clock = ManualClock(now: Date(timeIntervalSince1970: 1_780_000_000))
        let cache = try await Models.inMemory(types: [Leaf.self], transport: server, clock: clock)
        var shown: String?
        for (number, step) in example.steps.enumerated() {
            clock.advance(by: .seconds(step.wait ?? 0))
            server.forgetRequests()
            Self.script(step, text: "step \(number)", on: server, at: clock.now)
            let outcome = await Self.outcome(
                of: step,
                text: "step \(number)",
                in: cache,
                server: server,
                shown: &shown
            )
            #expect(outcome == step.expect, "\(example.id), step \(number): \(example.checks)")
            for header in step.sends ?? [] {
                let sent = server.requests.last?.headers[header[0]]
                #expect(
                    sent == (header[1].isEmpty ? nil : header[1]),
                    "\(example.id), step \(number): \(header[0])"
                )
            }
            if number == example.steps.count - 1 {
                #expect(!example.wrong.contains(outcome), "\(example.id): forbidden")
            }
        }
    }

    /// Every case stands in the table that is written by `Scripts/http-cases`, with this cache's outcome.
    @Test func theTableHasThem() throws {
        let page = try String(
            contentsOf: HTTPCase.file.deletingLastPathComponent().appending(path: "../../docs/http.md")
                .standardized,
            encoding: .utf8
        )
        let rows = Set(
            page.split(separator: "\n").map { $0.split(separator: "|").prefix(2).joined(separator: "|") }
        )
        for example in HTTPCase.all {
            let outcome = example.steps.last?.expect.rawValue ?? ""
            #expect(rows.contains(" `\(example.id)` | \(outcome) "), "run Scripts/http-cases")
        }
    }

    private static func script(_ step: HTTPCase.Step, text: String, on server: StubTransport, at now: Date) {
        guard step.fails != true else { return server.fail("/leaf") }
        for (number, answer) in (step.answers ?? []).enumerated() {
            let headers = ModelHeaders((answer.headers ?? []).map { ($0[0], Self.value($0[1], at: now)) })
            let body: StubTransport.Body =
                answer.empty == true
                ? .empty : .json(#"{"id": "\#(step.query ?? "1")", "text": "\#(text)"}"#)
            let status = answer.status ?? 200
            if number == 0 {
                server.answer("/leaf", body, status: status, headers: headers)
            } else {
                server.answerNext("/leaf", body, status: status, headers: headers)
            }
        }
    }

    private static func value(_ text: String, at now: Date) -> String {
        guard text.hasPrefix("@"), let seconds = Double(text.dropFirst()) else { return text }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: now.addingTimeInterval(seconds))
    }

    private static func outcome(
        of step: HTTPCase.Step,
        text: String,
        in cache: Models,
        server: StubTransport,
        shown: inout String?
    ) async -> HTTPOutcome {
        let former = shown
        var found: Leaf?
        do {
            found = try await Leaf.$headers.withValue(ModelHeaders((step.request ?? []).map { ($0[0], $0[1]) })) {
                try await cache.fetch(Leaf.self, id: step.query ?? "1")
            }
        } catch {
            // Told by the outcome.
        }
        await cache.settle()
        if server.requests.isEmpty { return found == nil ? .failed : .used }
        guard let found else { return .failed }
        shown = found.text
        guard let last = server.responses.last, last.status < 500 else { return .stale }
        if last.status == 304 { return found.text == former ? .validated : .loaded }
        return found.text == text || found.text.isEmpty ? .loaded : .behind
    }
}
