import Foundation
import Synchronization

@testable import ArchiveStore

/// Counts the calls that go through its layer, and has some of them fail.
final class FaultyLayer: Sendable {
    /// Which calls fail, and how; calls are counted from the start of the plan.
    enum Plan: Sendable, CustomStringConvertible {
        case nothing
        case once(Int, FileLayer.Answer)
        case from(Int, FileLayer.Answer)

        var description: String {
            switch self {
            case .nothing: "no fault"
            case .once(let index, let answer): "call \(index): \(answer)"
            case .from(let index, let answer): "from call \(index) on: \(answer)"
            }
        }

        /// Whether the store must succeed in spite of the fault.
        var mustNotShow: Bool {
            switch self {
            case .nothing, .once(_, .shorten), .from(_, .shorten), .once(_, .fail(EINTR)): true
            default: false
            }
        }

        func answer(to index: Int) -> FileLayer.Answer {
            switch self {
            case .once(index, let answer): answer
            case .from(let first, let answer) where index >= first: answer
            default: .proceed
            }
        }
    }

    private struct State {
        var plan = Plan.nothing
        var calls: [FileLayer.Call] = []
        var failing: Set<FileLayer.Operation>?
    }

    private let state: Mutex<State>

    /// - Parameter failing: The operations that a plan applies to; `nil` means all.
    init(failing: Set<FileLayer.Operation>? = nil) {
        state = Mutex(State(failing: failing))
    }

    var layer: FileLayer {
        FileLayer { [self] call in
            state.withLock { state in
                defer { state.calls.append(call) }
                if let failing = state.failing, !failing.contains(call.operation) { return .proceed }
                return state.plan.answer(to: state.calls.count)
            }
        }
    }

    /// Has `body` run with a plan, and gives the calls that it made.
    func planning(_ plan: Plan, _ body: () throws -> Void) rethrows -> [FileLayer.Call] {
        state.withLock { ($0.plan, $0.calls) = (plan, []) }
        defer { state.withLock { $0.plan = .nothing } }
        try body()
        return state.withLock { $0.calls }
    }
}

/// How many files and directories in `directory` this process has open; `nil` where the system does not say.
func openFileCount(in directory: String) -> Int? {
    let descriptors = "/proc/self/fd"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: descriptors) else { return nil }
    return names.filter { name in
        // Gone again, if it was the listing's own, or another test's.
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + name)
        return target?.hasPrefix(directory) == true
    }.count
}
