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
    /// One operand or more.
    convenience init(_ placeholder: String, help: String) {
        self.init(OperandDeclaration(placeholder: placeholder, arity: .many, help: help)) { $0 }
    }
}

/// The operands that a subcommand takes besides its options, as parser and help both read them.
struct OperandDeclaration: Sendable, Equatable {
    enum Arity: Sendable {
        case one
        case optional
        case many
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
        }
    }

    /// How many there may be.
    var most: Int { arity == .many ? .max : 1 }
}

/// Operands of any type, for the parser and for help.
protocol DeclaredOperand: AnyObject {
    var declaration: OperandDeclaration { get }
    var texts: [String] { get set }
}
