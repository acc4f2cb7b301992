import Foundation
import Testing

@testable import KeyedArchive

/// A value of a Foundation class, and how to tell that another one is the same.
struct FormSample: Sendable, CustomTestStringConvertible {
    let name: String
    /// The class that the archive names.
    let className: String
    /// The class that it is asked for with.
    let type: AnyClass
    /// Whether it may be archived where secure coding is required.
    let isSecure: Bool
    let make: @Sendable () throws -> Any
    /// Whether a decoded object casts to every type that it should, and is the same as the original.
    let isSame: @Sendable (_ decoded: Any, _ original: Any) -> Bool

    var testDescription: String { name }

    private init(
        _ name: String,
        className: String,
        type: AnyClass,
        isSecure: Bool,
        make: @escaping @Sendable () throws -> Any,
        isSame: @escaping @Sendable (Any, Any) -> Bool
    ) {
        self.name = name
        self.className = className
        self.type = type
        self.isSecure = isSecure
        self.make = make
        self.isSame = isSame
    }

    /// A Swift value; the value that comes back casts to its own type and to the Foundation class.
    static func value<Value: Equatable & SendableMetatype, Class: NSObject>(
        _ name: String,
        _ value: @autoclosure @escaping @Sendable () -> Value,
        _ type: Class.Type,
        named className: String,
        isSecure: Bool = true
    ) -> FormSample {
        FormSample(name, className: className, type: type, isSecure: isSecure) {
            value()
        } isSame: { decoded, original in
            decoded as? Value == original as? Value && decoded as? Class != nil
        }
    }

    /// An object, which comes back as an equal one of the same class.
    static func object<Class: NSObject>(
        _ className: String,
        _ type: Class.Type,
        isSecure: Bool = true,
        isSame: @escaping @Sendable (Class, Class) -> Bool = { $0.isEqual($1) },
        make: @escaping @Sendable () throws -> Class
    ) -> FormSample {
        FormSample("\(Class.self) object", className: className, type: type, isSecure: isSecure, make: make) {
            decoded,
            original in
            guard let decoded = decoded as? Class, let original = original as? Class else { return false }
            return isSame(decoded, original)
        }
    }

    /// A value of a type that only its class stands for.
    static func boxed<Value: Sendable>(
        _ value: Value,
        isSame: @escaping @Sendable (NSValue) -> Bool
    ) -> FormSample {
        FormSample("\(Value.self)", className: "NSValue", type: NSValue.self, isSecure: true) {
            value
        } isSame: { decoded, _ in
            (decoded as? NSValue).map(isSame) ?? false
        }
    }
}
