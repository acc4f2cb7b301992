import TestSupport

/// A moment of a simulation, in microseconds since its beginning.
typealias Moment = Int64

/// The events of a simulation in the order of their times; of events at one time, the one that was added first comes
/// first.
final class EventQueue {
    /// Has no reference, so that the heap is sorted without counting any.
    private struct Event {
        let time: Moment
        let number: Int
        /// The place of its body.
        let place: Int

        func isBefore(_ other: Event) -> Bool { time < other.time || time == other.time && number < other.number }
    }

    private(set) var now: Moment = 0
    var random: SeededGenerator
    private var heap: [Event] = []
    private var bodies: [(() -> Void)?] = []
    private var freePlaces: [Int] = []
    private var count = 0

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    var instant: ContinuousClock.Instant { Self.origin + .microseconds(now) }
    private static let origin = ContinuousClock.now

    /// The moment of an instant of this simulation.
    static func moment(of instant: ContinuousClock.Instant) -> Moment {
        Moment(origin.duration(to: instant) / .microseconds(1))
    }

    func after(_ delay: Moment, _ body: @escaping () -> Void) { at(now + max(delay, 0), body) }

    func at(_ time: Moment, _ body: @escaping () -> Void) {
        count += 1
        let place = freePlaces.popLast() ?? bodies.count
        if place == bodies.count { bodies.append(body) } else { bodies[place] = body }
        heap.append(Event(time: max(time, now), number: count, place: place))
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].isBefore(heap[parent]) {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Runs all events until a time, those that they add among them.
    func run(until end: Moment) {
        while let first = heap.first, first.time <= end {
            let last = heap.removeLast()
            if !heap.isEmpty { Self.sink(last, in: &heap) }
            now = first.time
            let body = bodies[first.place]
            bodies[first.place] = nil
            freePlaces.append(first.place)
            body?()
        }
        now = end
    }

    /// Gives up all events, which hold the objects of the simulation.
    func removeAll() {
        heap = []
        bodies = []
        freePlaces = []
    }

    /// Puts an event in the place of the first one.
    private static func sink(_ event: Event, in heap: inout [Event]) {
        var parent = 0
        while true {
            var least = 2 * parent + 1
            if least >= heap.count { break }
            if least + 1 < heap.count, heap[least + 1].isBefore(heap[least]) { least += 1 }
            if !heap[least].isBefore(event) { break }
            heap[parent] = heap[least]
            parent = least
        }
        heap[parent] = event
    }

    // MARK: Chance

    func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    func moment(_ range: ClosedRange<Moment>) -> Moment { Moment.random(in: range, using: &random) }
    func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    /// Times between events that come at random, with this mean.
    func pause(mean: Moment) -> Moment {
        let share = 1 - Double.random(in: 0..<1, using: &random)
        var power = 0.0
        // −ln(share), by halving: exact enough, and the same on every platform.
        var rest = share
        while rest < 0.5 {
            rest *= 2
            power += 0.693_147
        }
        power += (1 - rest) * 1.386_294
        return Moment(Double(mean) * power) + 1
    }
}
