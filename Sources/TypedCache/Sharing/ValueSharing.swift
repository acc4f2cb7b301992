/// Whether memory hands out one value to all fetches, or decodes a new one for each.
///
/// A shared value costs a fetch from memory 0.2 µs. Decoding takes 50 to 75 times as long, but each caller gets its
/// own value and may change it.
public struct ValueSharing: Sendable, Hashable {
    private enum Base { case automatic, shared, decodedEachTime }

    private let base: Base

    /// Shared where no caller can change the value that another caller has; decoded for each fetch otherwise.
    ///
    /// The cache knows this of types that are Sendable where it is opened. Generic code does not see that, and a
    /// public type is Sendable only if its declaration says so. The cache inspects such a type when it is opened,
    /// once for each type: a structure is shared if all its stored properties are strings, numbers, dates and other
    /// plain values of Swift and Foundation, enumerations without payloads, or structures, arrays, sets, dictionaries
    /// and optionals of these. Classes and enumerations with payloads are not shared. Apple's standard library does
    /// not allow that inspection. There, only structures without any reference are shared: a structure with a string
    /// is not, unless it is Sendable where the cache is opened. In a debug build, a cache that does not share prints
    /// the reason on standard error, once for each type.
    public static let automatic = ValueSharing(base: .automatic)

    /// Shared, for every type. For a type that is not Sendable, the program promises not to change a fetched object
    /// or an object that it refers to, and that any thread may release them.
    public static let shared = ValueSharing(base: .shared)

    /// Decoded again for each fetch, for every type.
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
