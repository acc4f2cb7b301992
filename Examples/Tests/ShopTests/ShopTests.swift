import ShopClient
import Testing

/// A client of a shop whose server has the habits and faults that servers have.
@Suite(.serialized) struct ShopTests {
    @Test(.timeLimit(.minutes(5)), arguments: Scenario.all) func everyAnswerIsAsItMustBe(scenario: Scenario)
        async throws
    {
        #expect(try await Visit.run(scenario, prints: false) == [])
    }
}
