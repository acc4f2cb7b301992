import Foundation
import ShopClient

/// Runs through the scenarios of a shop's client, and says what the library answered. Ends with 1 if an answer is wrong.
///
///     shop            all
///     shop WORDS      the scenarios with these words in their names
let words = CommandLine.arguments.dropFirst().joined(separator: " ")
let scenarios = Scenario.all.filter { words.isEmpty || $0.name.localizedCaseInsensitiveContains(words) }
var faultCount = 0
for scenario in scenarios { faultCount += try await Visit.run(scenario, prints: true).count }
let count = "\(scenarios.count) scenario\(scenarios.count == 1 ? "" : "s")"
print("\(count): " + (faultCount == 0 ? "every answer is as it must be." : "\(faultCount) answers are wrong."))
exit(faultCount == 0 && !scenarios.isEmpty ? 0 : 1)
