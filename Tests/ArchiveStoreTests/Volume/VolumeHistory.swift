import Foundation
import Sealing
import TestSupport

@testable import ArchiveStore

/// The steps of some processes, and the events that come between their calls: all that a simulation does.
struct VolumeHistory {
    enum Layout: String, CaseIterable, Sendable {
        case packed, files, packedBehind
        /// Stores whose files are encrypted.
        case sealedPacked, sealedFiles

        static let allCases: [Layout] =
            [.packed, .files, .packedBehind] + (CipherAlgorithm.isAvailable ? [.sealedPacked, .sealedFiles] : [])

        var isSealed: Bool { self == .sealedPacked || self == .sealedFiles }
        var hasFiles: Bool { self == .files || self == .sealedFiles }
    }

    enum Action {
        case save([String], byteCount: Int)
        case fetch(String)
        /// Fetches each key, and compares them with the list of entries.
        case check
        case remove(String)
        case removeAll
        case compact
        case flush
        /// Closes the store; the next step opens it again.
        case close
        /// The process ends without closing, and another one begins.
        case exit
        /// The device gets everything.
        case age
    }

    struct Step {
        let actor: Int
        let action: Action
        var event: (calls: Int, event: VolumeStage.Event)?
    }

    /// The length of a segment, far below that of a store outside a simulation.
    static let leastSegmentByteCount = 1 << 17

    let seed: Int
    var layout = Layout.packed
    /// The durability of each process.
    var durabilities: [StoreSettings.Durability] = [.process]
    var byteLimit: Int?
    /// In blocks of 4 KiB.
    var capacity = 1 << 20
    var namesAreOrdered = true
    var isInterleaved = false
    /// Whether a store that a reader opens is not made for that.
    var readersOnlyRead = false
    /// Whether each change is judged as if it had been made under `.power`, which it need not be: a law that does not hold.
    var isJudgedAsDurable = false
    /// The steps that come before, one after another.
    var before: [Step] = []
    var steps: [Step] = []
    /// The steps after the power failure with which `steps` end, if they do.
    var later: [Step] = []
    /// The order in which the device gets changes; `nil`: any.
    var order: PowerFailure.Order?
    var keyCount = 8

    var keys: [String] { (0..<keyCount).map { "k\($0)" } }

    var endsWithPowerFailure: Bool {
        steps.contains { $0.event?.event == .powerFailure }
    }
}

extension VolumeHistory.Action: CustomStringConvertible {
    var description: String {
        switch self {
        case .save(let keys, let byteCount): "saves \(keys.joined(separator: ", ")) with \(byteCount) bytes"
        case .fetch(let key): "fetches \(key)"
        case .check: "fetches and lists all"
        case .remove(let key): "removes \(key)"
        case .removeAll: "removes all"
        case .compact: "compacts"
        case .flush: "flushes"
        case .close: "closes"
        case .exit: "exits without closing"
        case .age: "has everything on the device"
        }
    }
}

extension VolumeStage.Event: CustomStringConvertible {
    var description: String {
        switch self {
        case .kill: "it is killed"
        case .fail(let number): "a call fails with \(number)"
        case .failFromHere(let number): "all calls that need room fail with \(number)"
        case .shorten(let count): "a call reads or writes \(count) bytes"
        case .failAfter(let count, let number):
            "a call writes \(count) bytes, and the next one fails with \(number)"
        case .failedWait: "a wait for the device fails"
        case .stop(let count): "it is stopped for \(count) calls of others"
        case .empty(let name): name.map { "one file *\($0) is removed by hand" } ?? "the folder is emptied by hand"
        case .powerFailure: "the power fails"
        }
    }
}

extension VolumeHistory.Step: CustomStringConvertible {
    var description: String {
        let event = event.map { ", and after \($0.calls) calls \($0.event)" } ?? ""
        return "process \(actor) \(action)\(event)"
    }
}

extension VolumeHistory: CustomStringConvertible {
    var description: String {
        let stores = durabilities.enumerated().map { "process \($0.offset) .\($0.element)" }.joined(separator: ", ")
        var lines = [
            "seed \(seed): \(layout.rawValue), \(stores)"
                + (byteLimit.map { ", limit \($0)" } ?? "") + (capacity < 1 << 20 ? ", \(capacity) blocks" : "")
                + (isInterleaved ? ", in turns" : "") + (namesAreOrdered ? "" : ", names in any order")
        ]
        lines += (before + steps).map { "  \($0)" }
        if endsWithPowerFailure { lines += later.map { "  later, \($0)" } }
        return lines.joined(separator: "\n")
    }
}

// MARK: - Made of seeds

extension VolumeHistory {
    /// The faults that a history may have.
    enum Attack: String, CaseIterable, Sendable {
        /// Processes are killed.
        case kills
        /// Calls fail, and processes are killed.
        case failures
        /// There is a limit of bytes, and processes are killed.
        case limit
        /// The volume is small, and processes are killed.
        case fullVolume
        /// Processes are stopped in the middle of a call.
        case stops
        /// Some processes make the store, and others only read.
        case beginnings
        /// The folder is emptied by hand.
        case emptied
        /// Only the marker of the folder is removed by hand.
        case marker
        /// The power fails, some time after entries came to the device.
        case power
        /// The power fails before anything came to the device.
        case earlyPower
    }

    init(
        seed: Int,
        _ attack: Attack,
        layout: Layout = .packed,
        durabilities: [StoreSettings.Durability] = [.process],
        order: PowerFailure.Order? = nil
    ) {
        self.seed = seed
        self.layout = layout
        self.order = order
        var random = SeededGenerator(seed: seed &* 31 &+ 17)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        keyCount = number(4...12)
        namesAreOrdered = order != .blocks || chance(0.5)
        let isPower = attack == .power || attack == .earlyPower
        let count = isPower ? durabilities.count : number(2...3)
        self.durabilities = (0..<count).map { durabilities[$0 % durabilities.count] }
        isInterleaved = !isPower && (attack == .stops || attack == .beginnings || chance(0.7))
        readersOnlyRead = attack == .stops || attack == .beginnings
        if attack == .stops { before = [Step(actor: 0, action: .save(["k0"], byteCount: 100))] }
        if attack == .limit { byteLimit = number(24...96) << 10 }
        if attack == .fullVolume { capacity = number(40...120) }
        // Long enough for several segments.
        let isLarge = isPower && chance(0.6) || attack == .emptied && chance(0.5)
        let largest = isLarge ? 30_000 : attack == .limit ? 8_000 : 2_000
        let length = isPower ? number(6...26) : number(10...30)
        let keys = (0..<keyCount).map { "k\($0)" }
        func key() -> String { keys[number(0...keyCount - 1)] }
        func action(_ choice: Int) -> Action {
            switch choice {
            case 0..<46: .save([key()], byteCount: chance(0.5) ? number(1...largest) : number(1...200))
            case 46..<52: .save((0..<number(2...6)).map { _ in key() }, byteCount: number(1...largest / 2))
            case 52..<74: .fetch(key())
            case 74..<84: .remove(key())
            case 84..<86: .removeAll
            case 86..<88: .compact
            case 88..<90: .check
            case 90..<96: .close
            case 96..<98: layout == .packedBehind ? .flush : .exit
            default: attack == .power ? .age : .exit
            }
        }
        if isPower {
            // Entries that are on the device for long.
            steps = keys.dropLast(number(0...2)).map {
                Step(actor: 0, action: .save([$0], byteCount: number(1...200)))
            }
            if chance(0.5) { steps.append(Step(actor: 0, action: chance(0.5) ? .close : .exit)) }
            if attack == .power { steps.append(Step(actor: 0, action: .age)) }
        }
        for _ in 0..<length {
            var step = Step(actor: number(0...count - 1), action: action(number(0...99)))
            if chance(isPower ? 0 : 0.25) { step.event = Self.event(of: attack, &random) }
            steps.append(step)
        }
        if isPower {
            let event = (calls: chance(0.4) ? 1_000 : number(0...14), event: VolumeStage.Event.powerFailure)
            // Often in the middle of a batch of several blocks.
            let last: Action =
                chance(0.4)
                ? .save((0..<number(4...8)).map { _ in key() }, byteCount: number(500...4_000))
                : action(number(0...60))
            steps.append(Step(actor: number(0...count - 1), action: last, event: event))
            later = [Step(actor: 0, action: .check), Step(actor: 0, action: .exit)]
            if chance(0.3) {
                // The second failure, before the first change is on the device.
                let event = (calls: number(0...30), event: VolumeStage.Event.powerFailure)
                later.append(Step(actor: 0, action: .save([key()], byteCount: number(1...200)), event: event))
                later.append(Step(actor: 0, action: .check))
                later.append(Step(actor: 0, action: .exit))
            }
            later += [
                Step(actor: 0, action: .save([key()], byteCount: number(1...200))),
                Step(actor: 0, action: chance(0.5) ? .exit : .close), Step(actor: 0, action: .check),
                Step(actor: 0, action: .exit), Step(actor: 0, action: .check),
            ]
        }
    }

    private static func event(
        of attack: Attack,
        _ random: inout SeededGenerator
    ) -> (calls: Int, event: VolumeStage.Event)? {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let calls = number(0...3) == 0 ? number(0...60) : number(0...14)
        switch attack {
        case .power, .earlyPower, .beginnings: return nil
        case .kills, .limit, .fullVolume: return (calls, .kill)
        case .stops: return (calls, .stop(number(20...200)))
        case .marker: return (calls, .empty("format"))
        case .emptied:
            return (calls, .empty([nil, nil, "format", "index", ".segment"][number(0...4)]))
        case .failures:
            switch number(0...6) {
            case 0: return (calls, .kill)
            case 1: return (calls, .shorten(number(1...40)))
            case 3: return (calls, .failAfter(number(1...200), [ENOSPC, EIO, EDQUOT][number(0...2)]))
            case 2: return (calls, .failFromHere([ENOSPC, EIO][number(0...1)]))
            case 4: return (calls, .failedWait)
            default: return (calls, .fail([EIO, ENOSPC, EDQUOT, EMFILE, EINTR, EACCES][number(0...5)]))
            }
        }
    }
}
