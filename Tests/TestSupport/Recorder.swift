import Synchronization

/// A list that any thread may add to, in the order of the additions.
package final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    package init() {}

    package var all: [Element] { elements.withLock { $0 } }
    package func add(_ element: Element) { elements.withLock { $0.append(element) } }
}
