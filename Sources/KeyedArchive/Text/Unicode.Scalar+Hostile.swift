extension Unicode.Scalar {
    /// Whether a character could change how a reader sees the text around it: controls, direction marks, line and
    /// paragraph separators, and invisible characters.
    package var isHostile: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: true  // controls
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // direction
        case 0x2028, 0x2029: true  // line and paragraph separators
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // invisible marks and tags
        default: false
        }
    }
}
