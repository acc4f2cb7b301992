/// The answer of a producer that was given the expired value of a key.
public struct Revalidated<Value> {
    enum Answer {
        case new(Value, tags: Set<String>?)
        case unchanged
    }

    let answer: Answer
    /// `nil`: as the fetch says.
    let expiration: Expiration?

    /// A value that takes the place of the expired one, if there is one.
    ///
    /// - Parameters:
    ///   - value: the new value.
    ///   - expiration: how long it may be used; `nil`: as the fetch says.
    ///   - tags: the groups that the entry belongs to; `nil`: as the fetch says.
    public static func new(
        _ value: Value,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil
    ) -> Revalidated {
        Revalidated(answer: .new(value, tags: tags), expiration: expiration)
    }

    /// The expired value has not changed: its entry gets a new deadline, and keeps its value, date and tags.
    ///
    /// - Parameter expiration: when the entry expires from now on; `nil`: as the fetch says. Only its deadline is
    ///   used; the entry keeps its stale windows and its idle duration.
    public static func unchanged(expiration: Expiration? = nil) -> Revalidated {
        Revalidated(answer: .unchanged, expiration: expiration)
    }
}

extension Revalidated: Sendable where Value: Sendable {}
extension Revalidated.Answer: Sendable where Value: Sendable {}
