import Foundation

// Points, sizes and rectangles without keys. Foundation's own methods insist on its own coders where there is no
// Objective-C, and cannot be overridden there.

extension NSCoder {
    /// Encodes a point without a key, in the form of Apple's `encodePoint:`.
    ///
    /// ``SequentialArchiver`` writes its coordinates as reals of four bytes, as Apple's archiver does; one that is too
    /// large for those is recorded as `.outOfRange`. Other coders get two values of the type `d`.
    public func encodePoint(_ point: CGPoint) { encode([point.x, point.y], .point) }

    /// Encodes a size without a key; see ``encodePoint(_:)``.
    public func encodeSize(_ size: CGSize) { encode([size.width, size.height], .size) }

    /// Encodes a rectangle without a key; see ``encodePoint(_:)``.
    public func encodeRect(_ rect: CGRect) {
        encode([rect.origin.x, rect.origin.y, rect.size.width, rect.size.height], .rect)
    }

    private func encode(_ numbers: [CGFloat], _ form: GeometryForm) {
        if let archiver = self as? SequentialArchiver { return archiver.encode(numbers, as: form) }
        for number in numbers {
            var value = Double(number)
            encodeValue(ofObjCType: "d", at: &value)
        }
    }

    /// Decodes a point that was encoded without a key, as a structure of whichever name or as two reals.
    ///
    /// - Returns: zero after an error, which is recorded as for any other value.
    public func decodePointValue() -> CGPoint {
        let numbers = decode(2)
        return CGPoint(x: numbers[0], y: numbers[1])
    }

    /// Decodes a size that was encoded without a key; see ``decodePointValue()``.
    public func decodeSizeValue() -> CGSize {
        let numbers = decode(2)
        return CGSize(width: numbers[0], height: numbers[1])
    }

    /// Decodes a rectangle that was encoded without a key; see ``decodePointValue()``.
    public func decodeRectValue() -> CGRect {
        let numbers = decode(4)
        return CGRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }

    private func decode(_ count: Int) -> [CGFloat] {
        if let unarchiver = self as? SequentialUnarchiver {
            return unarchiver.decodeReals(count).map { CGFloat($0) }
        }
        return (0..<count).map { _ in
            var value = 0.0
            decodeValue(ofObjCType: "d", at: &value)
            return CGFloat(value)
        }
    }
}
