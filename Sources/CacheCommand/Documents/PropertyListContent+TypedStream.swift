import Foundation
import KeyedArchive
import SequentialArchive

extension PropertyListContent {
    /// A value of a typed stream that is neither a reference nor has parts.
    init(plain value: TypedStream.Value) {
        switch value {
        case .name(let bytes?), .bytes(let bytes?): self.init(textOrData: bytes)
        default: self = Self(number: value) ?? .null
        }
    }

    /// A number; `nil` for another value.
    init?(number value: TypedStream.Value) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .real(value)
        default: return nil
        }
    }

    /// Bytes as text, if they are text.
    init(textOrData bytes: Data) {
        let text = String(validating: bytes, as: UTF8.self)
        let isText = text?.unicodeScalars.allSatisfy { $0.value >= 0x20 || "\t\r\n".unicodeScalars.contains($0) }
        if let text, isText == true { self = .string(text) } else { self = .data(bytes) }
    }

    var seconds: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
}
