/// The result of an operation.
enum Answer: Hashable, CustomStringConvertible {
    /// A save, or a removal of everything.
    case done
    case value(ValueIdentity)
    case absent
    case present
    case keys([String])
    case count(Int)
    /// A value that differs from the value that was saved.
    case torn(String)
    /// An error was thrown, with its number by the system, or 0, or ``unreachable``.
    case failed(Int32, String)

    /// The number of the error that a server did not answer.
    static let unreachable: Int32 = -1

    var description: String {
        switch self {
        case .done: "done"
        case .value(let identity): "value \(identity)"
        case .absent: "absent"
        case .present: "present"
        case .keys(let keys): "keys " + keys.joined(separator: ",")
        case .count(let count): "count \(count)"
        case .torn(let reason): "torn \(reason)"
        case .failed(let number, let reason): "failed \(number) \(reason)"
        }
    }

    init?(_ words: ArraySlice<Substring>) {
        let rest = words.dropFirst()
        switch (words.first, rest.first) {
        case ("done", nil): self = .done
        case ("absent", nil): self = .absent
        case ("present", nil): self = .present
        case ("keys", nil): self = .keys([])
        case ("keys", let keys?): self = .keys(keys.split(separator: ",").map(String.init))
        case ("torn", _): self = .torn(rest.joined(separator: " "))
        case ("value", let text?):
            guard let identity = ValueIdentity(text) else { return nil }
            self = .value(identity)
        case ("count", let text?):
            guard let count = Int(text) else { return nil }
            self = .count(count)
        case ("failed", let text?):
            guard let number = Int32(text) else { return nil }
            self = .failed(number, rest.dropFirst().joined(separator: " "))
        default: return nil
        }
    }
}
