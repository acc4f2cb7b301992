import Foundation
import TestSupport

@testable import ArchiveStore

/// The processes that use a volume: they take turns at each call, in an order that follows from a seed.
///
/// One thread has the turn at a time, and only that one uses anything here, so nothing is locked.
final class VolumeStage: @unchecked Sendable {
    /// The events that may come before a call.
    enum Event: Equatable {
        case kill
        case fail(Int32)
        /// This call and all later ones of the step fail.
        case failFromHere(Int32)
        case shorten(Int)
        /// A call writes so many bytes, and the next one fails.
        case failAfter(Int, Int32)
        /// A failed wait, if the call is one: its pages count as written.
        case failedWait
        /// The process gets no turn until the others cannot go on, or have made so many calls.
        case stop(Int)
        /// The folder is emptied by hand: all of it, or the files of some name.
        case empty(String?)
        case powerFailure
    }

    enum State: Equatable {
        case ready
        case waits(for: Int)
        case stopped(until: Int)
        case ended
    }

    /// A thread of the simulation, and the process that it is now: another one after each kill.
    final class Actor: @unchecked Sendable {
        let number: Int
        fileprivate let turn = DispatchSemaphore(value: 0)
        fileprivate(set) var state = State.ready
        /// The process; another number for each that begins in the place of a killed one.
        fileprivate(set) var process: Int
        fileprivate(set) var isDead = false
        /// The step that comes next, by which the order of steps is kept where they do not overlap.
        fileprivate(set) var nextStep = 0
        /// An event, and how many calls of the step come before it.
        fileprivate var event: (calls: Int, event: Event)?
        fileprivate var callCount = 0
        fileprivate var failure: Int32?
        /// Whether a call of this step failed, so that its operation may.
        fileprivate(set) var hasFailed = false
        /// Whether the step only reads: it must not wait for a stopped process.
        var isReading = false

        init(number: Int, process: Int) {
            self.number = number
            self.process = process
        }
    }

    let volume: SimulatedVolume
    let directory: String
    private var random: SeededGenerator
    let isInterleaved: Bool
    private(set) var actors: [Actor] = []
    private var lastProcess = 0
    private(set) var callCount = 0
    /// Nanoseconds of the simulation's clock.
    private(set) var now: UInt64 = 1_000_000_000
    private(set) var hasPower = true
    /// A digest of all calls and their results, and the calls, if they are to be told.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var trace: [String]?
    /// Readers that waited for a stopped process, and the like.
    private(set) var violations: [String] = []
    /// Called when a process is killed, the folder is emptied, and the power fails.
    var onKill: (Actor) -> Void = { _ in }
    var onEmpty: (String?) -> Void = { _ in }
    /// Called after each call that may have made files longer.
    var onWrite: () -> Void = {}
    private let isDone = DispatchSemaphore(value: 0)

    init(_ volume: SimulatedVolume, directory: String, seed: Int, isInterleaved: Bool, traces: Bool = false) {
        self.volume = volume
        self.directory = directory
        self.isInterleaved = isInterleaved
        random = SeededGenerator(seed: seed)
        trace = traces ? [] : nil
    }

    func addActor() -> Actor {
        lastProcess += 1
        let actor = Actor(number: actors.count, process: lastProcess)
        actors.append(actor)
        return actor
    }

    /// A moment for the oracle: each is later than the one before.
    func moment() -> Int {
        now += 1
        return Int(now)
    }

    /// Begins at a moment after those of another stage.
    func begin(after moment: Int) { now = UInt64(moment) + 1_000_000 }

    // MARK: Turns

    /// Runs the work of each actor on a thread of its own, until all have ended.
    func run(_ body: @escaping @Sendable (Actor) -> Void) {
        for actor in actors {
            Thread.detachNewThread { [self] in
                actor.turn.wait()
                body(actor)
                actor.state = .ended
                if let next = nextActor() { next.turn.signal() } else { isDone.signal() }
            }
        }
        nextActor()?.turn.signal()
        isDone.wait()
    }

    /// Begins a step of an actor.
    func begin(_ actor: Actor, step: Int, event: (calls: Int, event: Event)?) {
        actor.nextStep = step
        actor.callCount = 0
        actor.event = event
        actor.failure = nil
        actor.hasFailed = false
        if isInterleaved { give(from: actor) }
    }

    /// Ends a step: an event that was to come later comes now.
    func end(_ actor: Actor) {
        actor.failure = nil
        if let event = actor.event?.event {
            actor.event = nil
            switch event {
            case .kill, .powerFailure, .empty: apply(event, to: actor)
            default: break
            }
        }
    }

    /// Gives the turn to an actor, and returns when this one has it again.
    private func give(from actor: Actor) {
        guard let next = nextActor(), next !== actor else { return }
        next.turn.signal()
        actor.turn.wait()
    }

    /// An actor that can go on; `nil` if all have ended.
    private func nextActor() -> Actor? {
        for actor in actors {
            if case .stopped(let until) = actor.state, callCount >= until { actor.state = .ready }
        }
        while true {
            let ready = actors.filter { $0.state == .ready }
            if let next = ready.randomElement(using: &random) { return next }
            // The others wait for a stopped one, or have ended.
            let stopped = actors.filter { if case .stopped = $0.state { true } else { false } }
            if stopped.isEmpty {
                let waiting = actors.filter { $0.state != .ended }
                guard let first = waiting.first else { return nil }
                violations.append("DEADLOCK: processes \(waiting.map(\.process)) wait for each other")
                hasPower = false
                first.state = .ready
                return first
            }
            for actor in stopped { actor.state = .ready }
        }
    }

    private func wake(waitersFor inode: Int? = nil) {
        for actor in actors {
            if case .waits(let id) = actor.state, inode == nil || id == inode { actor.state = .ready }
        }
    }

    // MARK: Events

    private func apply(_ event: Event, to actor: Actor) {
        note(actor, "\(event)")
        switch event {
        case .kill: kill(actor)
        case .powerFailure: hasPower = false
        case .empty(let name): empty(name)
        default: break
        }
    }

    /// Ends a process: its descriptors are closed, and its calls have no effect from here on.
    private func kill(_ actor: Actor) {
        actor.isDead = true
        volume.closeAll(of: actor.process)
        wake()
        onKill(actor)
    }

    /// A process ends without closing anything by itself.
    func exit(_ actor: Actor) { kill(actor) }

    /// A process begins in the place of a killed one.
    func restart(_ actor: Actor) {
        lastProcess += 1
        actor.process = lastProcess
        actor.isDead = false
    }

    private func empty(_ name: String?) {
        onEmpty(name)
        guard let folder = volume.find(directory) else { return }
        let names = volume.names(at: directory)
        if let name {
            // One file: the marker, the index, or one of the segments or shards.
            let chosen = names.filter { $0.hasSuffix(name) }.sorted()
            if let one = chosen.randomElement(using: &random) { volume.remove(one, in: folder) }
        } else {
            for name in names { volume.remove(name, in: folder) }
        }
    }

    // MARK: Calls

    /// The layer of an actor's present process.
    func layer(of actor: Actor, _ pool: DescriptorPool? = nil) -> FileLayer {
        let world = StageWorld(stage: self, actor: actor, process: actor.process)
        return FileLayer(world: world, pool: pool) { [self] call in
            answer(call, of: actor, process: world.process)
        }
    }

    private func answer(_ call: FileLayer.Call, of actor: Actor, process: Int) -> FileLayer.Answer {
        func isGone() -> Bool { !hasPower || actor.isDead || actor.process != process }
        if isGone() { return ghost(call) }
        callCount += 1
        now += UInt64.random(in: 1_000...100_000, using: &random)
        if Int.random(in: 0..<64, using: &random) == 0 { now += 11_000_000 }
        var most = Int.max
        var failedWait = false
        if let event = actor.event, event.calls <= actor.callCount, isMeant(event.event, call) {
            actor.event = nil
            switch event.event {
            case .kill, .powerFailure, .empty:
                // The system may have done a part of a write by then.
                if case .write(_, let bytes, _) = call.system, event.event == .kill {
                    let count = Int.random(in: 0...bytes.count, using: &random)
                    if count > 0 { _ = volume.perform(call, by: process, upTo: count) }
                }
                apply(event.event, to: actor)
            case .fail(let number) where number == EINTR:
                note(actor, "interrupted")
                return .fail(EINTR)
            case .fail(let number):
                actor.hasFailed = true
                note(actor, "\(call.operation) \(call.name) fails with \(number)")
                return .fail(number)
            case .failFromHere(let number): actor.failure = number
            case .shorten(let count): most = count
            case .failAfter(let count, let number):
                most = count
                actor.event = (0, .fail(number))
            case .failedWait:
                failedWait = true
                actor.hasFailed = true
            case .stop(let count):
                if isInterleaved {
                    note(actor, "stopped")
                    actor.state = .stopped(until: callCount + count)
                }
            }
        }
        actor.callCount += 1
        if let number = actor.failure, isMeant(.failFromHere(number), call) {
            actor.hasFailed = true
            return .fail(number)
        }
        if isInterleaved, actor.state != .ready || Int.random(in: 0..<4, using: &random) == 0 { give(from: actor) }
        while true {
            if isGone() { return ghost(call) }
            let outcome = volume.perform(call, by: process, upTo: most, failedWait: failedWait)
            note(actor, call, outcome: outcome)
            switch outcome {
            case .done(let result):
                switch call.system {
                case .unlock, .close, .closeList: wake()
                case .write, .truncate, .allocate, .rename: onWrite()
                default: break
                }
                return .done(result)
            case .failed(let number):
                if number == ENOSPC { actor.hasFailed = true }
                return .fail(number)
            case .waits(let inode):
                let owners = volume.lockOwners(of: inode)
                let isStopped = actors.contains {
                    if case .stopped = $0.state { owners.contains($0.process) } else { false }
                }
                if actor.isReading, isStopped {
                    violations.append(
                        "BLOCKED: process \(process) only reads, and waits for the lock of a stopped one"
                    )
                }
                guard isInterleaved else {
                    violations.append(
                        "DEADLOCK: process \(process) waits for a lock that process \(owners.sorted()) has"
                    )
                    hasPower = false
                    continue
                }
                actor.state = .waits(for: inode)
                give(from: actor)
                if case .waits = actor.state {
                    // No other actor had anything to do.
                    actor.state = .ready
                }
            }
        }
    }

    /// Whether an event makes sense at a call.
    private func isMeant(_ event: Event, _ call: FileLayer.Call) -> Bool {
        switch (event, call.system) {
        case (.fail, .unlock), (.fail, .close), (.fail, .closeList), (.fail, .changeOwner): false
        case (.failFromHere(let number), .write), (.failFromHere(let number), .allocate),
            (.failFromHere(let number), .allocateAhead):
            number == ENOSPC || number == EIO
        case (.failFromHere, .makeFile), (.failFromHere, .makeDirectory): true
        case (.failFromHere, _): false
        case (.failedWait, .synchronize): true
        case (.failedWait, _): false
        case (.shorten, .read), (.shorten, .write), (.failAfter, .write): true
        case (.shorten, _), (.failAfter, _): false
        default: true
        }
    }

    /// The answer to a process that is no more: its thread ends by errors, and nothing that it does is seen.
    private func ghost(_ call: FileLayer.Call) -> FileLayer.Answer {
        switch call.system {
        case .close, .closeList, .unlock, .changeOwner: .done(0)
        default: .fail(EIO)
        }
    }

    // MARK: Trace

    private func note(_ actor: Actor, _ text: @autoclosure () -> String) {
        if trace != nil { trace?.append("process \(actor.process): \(text())") }
    }

    private func note(_ actor: Actor, _ call: FileLayer.Call, outcome: SimulatedVolume.Outcome) {
        var operands: [Int]
        switch call.system {
        case .read(_, let target, let offset): operands = [offset, target.count]
        case .write(_, let bytes, let offset): operands = [offset ?? -1, bytes.count]
        case .truncate(_, let count): operands = [count]
        default: operands = []
        }
        var result = -1
        if case .done(let value) = outcome { result = value }
        if case .nextName = call.system { result = result > 0 ? 1 : result }
        if case .failed(let number) = outcome { operands.append(Int(number)) }
        for value in [actor.process, result] + operands {
            digest = (digest ^ UInt64(truncatingIfNeeded: value)) &* 0x100_0000_01b3
        }
        // Segments that are closed together come in no order.
        if call.operation == .close { return }
        for byte in call.name.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        note(
            actor,
            "\(call.operation) \(call.name)\(call.newName.map { " → " + $0 } ?? "") \(operands) = \(result)"
        )
    }

    fileprivate func randomNumber() -> UInt64 { random.next() }
}

/// The time and chance of one process.
private struct StageWorld: SimulatedWorld {
    let stage: VolumeStage
    let actor: VolumeStage.Actor
    let process: Int

    var now: UInt64 { stage.now }
    var boot: UInt64 { UInt64(stage.volume.device) }
    func randomNumber() -> UInt64 { stage.randomNumber() }
}
