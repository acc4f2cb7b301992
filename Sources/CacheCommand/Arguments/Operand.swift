/// The operands of a subcommand, as one property of it.
///
/// ```swift
/// @Operand("DIR", help: "The directory to read") var path: String
/// ```
@propertyWrapper
final class Operand<Value>: DeclaredOperand {
    let declaration: OperandDeclaration
    var texts: [String] = []
    private let read: ([String]) -> Value

    private init(_ declaration: OperandDeclaration, read: @escaping ([String]) -> Value) {
        self.declaration = declaration
        self.read = read
    }

    var wrappedValue: Value { read(texts) }
}

extension Operand where Value == String {
    /// Exactly one operand.
    convenience init(_ placeholder: String, help: String) {
        self.init(OperandDeclaration(placeholder: placeholder, arity: .one, help: help)) { $0[0] }
    }
}

extension Operand where Value == String? {
    /// One operand, or none.
    convenience init(_ placeholder: String, help: String) {
        self.init(OperandDeclaration(placeholder: placeholder, arity: .optional, help: help)) { $0.first }
    }
}

extension Operand where Value == [String] {
    /// One operand or more; none either, if `isOptional` is true.
    convenience init(_ placeholder: String, isOptional: Bool = false, help: String) {
        self.init(OperandDeclaration(placeholder: placeholder, arity: isOptional ? .any : .many, help: help)) { $0 }
    }
}

/// The operands that a subcommand takes besides its options, as parser and help both read them.
struct OperandDeclaration: Sendable, Equatable {
    enum Arity: Sendable {
        case one
        case optional
        case many
        case any
    }

    /// The word that stands for it in help.
    let placeholder: String
    let arity: Arity
    let help: String

    /// As it stands in the usage line.
    var form: String {
        switch arity {
        case .one: placeholder
        case .optional: "[\(placeholder)]"
        case .many: "\(placeholder)…"
        case .any: "[\(placeholder)…]"
        }
    }

    /// How many there may be.
    var most: Int { arity == .many || arity == .any ? .max : 1 }
    /// How many there must be.
    var least: Int { arity == .many || arity == .one ? 1 : 0 }
}

/// Operands of any type, for the parser and for help.
protocol DeclaredOperand: AnyObject {
    var declaration: OperandDeclaration { get }
    var texts: [String] { get set }
}
