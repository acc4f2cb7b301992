import Foundation

// NSAffineTransform:
//
//     NSTransformStruct   24 bytes: m11, m12, m21, m22, tX, tY as Floats, big-endian
//
// Foundation on Linux has an unkeyed old-style array of these six instead, which is read here too.

#if os(macOS) || !canImport(Darwin)
    extension AffineTransform: ArchiveIntrinsic {
        /// The numbers are rounded to Floats: the form has no room for more.
        func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
            archiver.form(NSAffineTransform.self) { archiver.encode(transform: self) }
        }
    }

    extension NSAffineTransform: ArchiveIntrinsic {
        func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
            archiver.form(NSAffineTransform.self, of: self) {
                archiver.encode(transform: self as AffineTransform)
            }
        }
    }

    extension KeyedArchiver {
        fileprivate func encode(transform: AffineTransform) {
            var bytes = Data()
            for number in [
                transform.m11, transform.m12, transform.m21, transform.m22, transform.tX, transform.tY,
            ] {
                withUnsafeBytes(of: Float(number).bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
            }
            encode(inline: bytes, forKey: "NSTransformStruct")
        }
    }

    extension FoundationForm {
        static let transforms = [FoundationForm("NSAffineTransform", transform)]

        // An NSAffineTransform, which can be changed, and which two objects may share.
        private static func transform(_ fields: inout FormFields) throws(ArchiveError) -> Any {
            var numbers: [CGFloat] = []
            if let data = try fields.optional(Data.self, "NSTransformStruct") {
                guard data.count == 24 else { throw fields.malformed("of another length") }
                for start in stride(from: 0, to: 24, by: 4) {
                    let pattern = data.dropFirst(start).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
                    numbers.append(CGFloat(Float(bitPattern: pattern)))
                }
            } else {
                let bytes = try fields.nextBytes("[6f]", count: 24)
                for start in stride(from: 0, to: 24, by: 4) {
                    let number = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Float.self) }
                    numbers.append(CGFloat(number))
                }
            }
            return AffineTransform(
                m11: numbers[0],
                m12: numbers[1],
                m21: numbers[2],
                m22: numbers[3],
                tX: numbers[4],
                tY: numbers[5]
            ) as NSAffineTransform
        }
    }
#else
    extension FoundationForm {
        static let transforms: [FoundationForm] = []
    }
#endif
