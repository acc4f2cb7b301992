import ArchiveStore

extension Cache {
    /// The results of `body` for the parts of a range, in their order: for many Sendable values on all processors at once,
    /// otherwise on the caller's thread alone.
    ///
    /// - Parameter body: archives or decodes values; must not wait for another part.
    func inParts<Element>(_ range: Range<Int>, _ body: (Range<Int>) -> [Element]) -> [Element] {
        if range.count < Processors.fewEntries || !valuesAreSendable { return body(range) }
        let parts = withoutActuallyEscaping(body) { body in
            let body = Crossing(value: body)
            return Processors.map(range) { Crossing(value: body.value($0)) }
        }
        var elements: [Element] = []
        elements.reserveCapacity(range.count)
        // Each by itself, for the reason that ``Processors/map(_:_:)`` has.
        for part in parts { for index in part.value.indices { elements.append(part.value[index]) } }
        return elements
    }
}

/// A value that goes to another thread.
///
/// Unchecked: used only by a cache whose values are Sendable, which the generic code above cannot see, for closures that
/// capture the cache, its values and Sendable ones, and for results made of values and Sendable errors. The caller waits
/// for all threads, and no closure changes its captured variables.
private struct Crossing<Value>: @unchecked Sendable {
    let value: Value
}
