/// Whether memory hands out one value to all fetches, or decodes a new one for each.
///
/// A shared value costs a fetch from memory 0.2 µs. Decoding takes 50 to 75 times as long, but gives each caller a
/// value of its own, which it may change.
public struct ValueSharing: Sendable, Hashable {
    private enum Base { case automatic, shared, decodedEachTime }

    private let base: Base

    /// Shared where no caller can change the value that another caller has; decoded for each fetch otherwise.
    ///
    /// That is known of types that are Sendable where the cache is opened. Code that is generic over its values does
    /// not see that, and public types are not Sendable unless they say so. Such types are looked into when the cache
    /// is opened, once for each: a structure is shared if all its stored properties are strings, numbers, dates and
    /// other plain values of Swift and Foundation, enumerations without payloads, or structures, arrays, sets,
    /// dictionaries and optionals of these. Classes and enumerations with payloads are not shared. Apple's standard
    /// library does not let structures be looked into: there, those are shared that hold no reference at all, so one
    /// with a string is not, unless it is Sendable where the cache is opened. In a debug build, a cache that does not
    /// share says so on standard error, and why, once for each type.
    public static let automatic = ValueSharing(base: .automatic)

    /// Shared, for every type. For a type that is not Sendable the program promises to change no object that a fetched
    /// value is or refers to, and that such objects may be released on any thread.
    public static let shared = ValueSharing(base: .shared)

    /// Decoded for each fetch, for every type.
    public static let decodedEachTime = ValueSharing(base: .decodedEachTime)

    /// How a cache of a type treats its values.
    ///
    /// - Parameter isSendable: whether the type is known to be Sendable.
    func treatment<Value>(of type: Value.Type, isSendable: Bool) -> ValueTreatment {
        switch base {
        case .shared: return ValueTreatment(areShared: true, areSendable: isSendable)
        case .decodedEachTime: return ValueTreatment(areShared: false, areSendable: isSendable)
        case .automatic:
            if isSendable { return ValueTreatment(areShared: true, areSendable: true) }
            let obstacle = SharingObstacle(to: type)
            #if DEBUG
                obstacle?.tellOnce()
            #endif
            // Plain values, of which several threads may each have a copy.
            let isPlain = obstacle == nil
            return ValueTreatment(areShared: isPlain, areSendable: isPlain)
        }
    }
}

/// How a cache treats its values.
struct ValueTreatment: Sendable {
    /// Whether memory hands out one value to all fetches.
    let areShared: Bool
    /// Whether values may be archived and decoded on other threads than their caller's.
    let areSendable: Bool
}
