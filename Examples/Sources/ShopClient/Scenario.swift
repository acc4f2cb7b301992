/// A situation that a shop's client meets, with its server.
package struct Scenario: Sendable, CustomStringConvertible {
    package let name: String
    let run: @MainActor @Sendable (Visit) async throws -> Void

    init(_ name: String, _ run: @escaping @MainActor @Sendable (Visit) async throws -> Void) {
        self.name = name
        self.run = run
    }

    package var description: String { name }

    package static let all: [Scenario] = reading + lists + changes + refusals + faults
}
