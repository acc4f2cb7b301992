import Foundation

/// A number as an archive holds it.
enum ArchivedNumber {
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)

    /// The kind of number, in words.
    var kind: String {
        switch self {
        case .bool: "a Boolean"
        case .integer, .unsigned: "an integer"
        case .float, .double: "a real number"
        }
    }

    /// The number in an integer type, or `nil` if it does not fit.
    ///
    /// A real number is an integer where nothing is lost, for many programs store whole numbers as reals.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): T(exactly: value)
        case .unsigned(let value): T(exactly: value)
        case .float(let value): T(exactly: value)
        case .double(let value): T(exactly: value)
        }
    }

    /// The number as a `Double`, or `nil` if that would lose information.
    var double: Double? {
        switch self {
        case .bool: nil
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .float(let value): Double(value)
        case .double(let value): value
        }
    }

    /// The number as a `Float`, rounded; `nil` if it is beyond the range of `Float`.
    var float: Float? {
        switch self {
        case .bool: return nil
        case .integer(let value): return Float(exactly: value)
        case .unsigned(let value): return Float(exactly: value)
        case .float(let value): return value
        case .double(let value):
            let narrowed = Float(value)
            return narrowed.isFinite || !value.isFinite ? narrowed : nil
        }
    }

    /// The number as a Boolean; `nil` if it is neither 0 nor 1.
    var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }
}

extension KeyedUnarchiver {
    /// The number that stands inline or as an object of its own; `nil` if it is no number.
    func number(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> ArchivedNumber? {
        switch try source.list.object(reference) {
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .uid(let uid):
            let target = try source.reference(ofObject: uid)
            switch try source.list.object(target) {
            case .uid: return nil
            default: return try number(at: target)
            }
        default: return nil
        }
    }

    /// The number under a key, converted; 0 or `false` if there is none, and after an error.
    func number<T>(
        _ key: String,
        _ zero: T,
        _ convert: (ArchivedNumber) -> T?
    ) -> T {
        attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key) else { return nil }
            guard let number = try number(at: reference) else {
                if try isNull(reference) { return nil }
                throw mismatch("\(T.self)", reference)
            }
            guard let value = convert(number) else { throw misfit(number, T.self, reference) }
            return value
        } ?? zero
    }

    /// Whether a value is a reference to nil.
    func isNull(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        guard let uid = try source.list.uid(reference) else { return false }
        return try source.isNull(source.reference(ofObject: uid))
    }

    /// The error for a value of another kind than the one asked for.
    func mismatch(_ asked: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        let stored = (try? kind(of: reference)) ?? "something unreadable"
        return ArchiveError(.typeMismatch, "\(stored), where \(asked) is asked for", offset: place(of: reference))
    }

    /// The error for an object whose own `init(coder:)` returned `nil`, or that its delegate dropped.
    func refusal(of place: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        let stored = (try? kind(of: reference)) ?? "something unreadable"
        return ArchiveError(
            .decodingFailed,
            "\(place), \(stored), refused to be decoded: there is nil in its place",
            offset: self.place(of: reference)
        )
    }

    /// The error for a number that the type asked for cannot hold.
    func misfit(
        _ number: ArchivedNumber,
        _ asked: Any.Type,
        _ reference: BinaryPropertyList.Reference
    ) -> ArchiveError {
        ArchiveError(.outOfRange, "\(number.kind) that does not fit \(asked)", offset: place(of: reference))
    }

    private func place(of reference: BinaryPropertyList.Reference) -> Int? {
        (try? resolve(reference)).flatMap { $0 }.flatMap { try? source.list.offset(of: $0) }
    }

    /// The kind of a value, in words.
    private func kind(of reference: BinaryPropertyList.Reference) throws(ArchiveError) -> String {
        guard let target = try resolve(reference) else { return "nil" }
        if let number = try number(at: target) { return number.kind }
        switch try source.list.object(target) {
        case .ascii, .utf16: return "a string"
        case .data: return "data"
        case .date: return "a date"
        case .dictionary(let fields):
            guard let uid = try? classUID(of: fields, at: target) else { return "a dictionary" }
            return "an object of class \(EscapedText.masked(try className(uid), prefix: Self.shownNameLength))"
        default: return "something else"
        }
    }
}
