import Foundation

/// The structures of geometry and ranges as archives of `NSArchiver` hold them: of reals of four bytes.
enum GeometryForm: String {
    case point = "{_NSPoint=ff}"
    case size = "{_NSSize=ff}"
    case rect = "{_NSRect={_NSPoint=ff}{_NSSize=ff}}"
    case range = "{_NSRange=QQ}"

    /// The form of a structure of this name with so many numbers; `nil` for all else.
    init?(name: String, realCount: Int, integerCount: Int) {
        switch (name, realCount, integerCount) {
        case ("_NSPoint", 2, 0), ("NSPoint", 2, 0), ("CGPoint", 2, 0): self = .point
        case ("_NSSize", 2, 0), ("NSSize", 2, 0), ("CGSize", 2, 0): self = .size
        case ("_NSRect", 4, 0), ("NSRect", 4, 0), ("CGRect", 4, 0): self = .rect
        case ("_NSRange", 0, 2), ("NSRange", 0, 2): self = .range
        default: return nil
        }
    }
}
