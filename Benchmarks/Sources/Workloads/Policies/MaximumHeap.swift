/// A binary heap that gives its largest element first.
struct MaximumHeap<Element: Comparable> {
    private var elements: [Element] = []

    mutating func insert(_ element: Element) {
        var index = elements.count
        elements.append(element)
        while index > 0, elements[(index - 1) / 2] < elements[index] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeMaximum() -> Element? {
        guard let maximum = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return maximum }
        elements[0] = last
        var index = 0
        while true {
            var largest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < elements.count && elements[largest] < elements[child] {
                largest = child
            }
            if largest == index { return maximum }
            elements.swapAt(index, largest)
            index = largest
        }
    }
}
