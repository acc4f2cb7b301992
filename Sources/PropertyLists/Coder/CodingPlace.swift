/// A value that is being encoded or decoded, within another.
protocol CodingPlace: AnyObject {
    /// The place of the container that holds the value; `nil` for the outermost one.
    var parent: Self? { get }
    /// The value's key in it.
    var key: (any CodingKey)? { get }
}

extension CodingPlace {
    // A loop: at the innermost of many levels, there is no stack left for as many calls.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var place: Self? = self
        while let inner = place {
            if inner.parent != nil, let key = inner.key { path.append(key) }
            place = inner.parent
        }
        path.reverse()
        return path
    }
}
