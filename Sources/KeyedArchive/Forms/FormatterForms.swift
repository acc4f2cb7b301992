import Foundation

// NSByteCountFormatter; default values are left out:
//
//     NSUnits, NSKBSize, NSFormattingContext       numbers: allowed units, count style, context
//     NSZeroPad, NSActual                          Boolean
//     NSNoNonnumeric, NSNoUnit, NSNoCount, NSNoAdaptive
//
// NSISO8601DateFormatter:
//
//     NS.formatOptions, NS.timeZone                number; NSTimeZone
//
// The other formatters have no form that is known here, but for DateIntervalFormatter: on Linux, that class does
// not survive being asked for its properties.

extension ByteCountFormatter: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(ByteCountFormatter.self, of: self) {
            let numbers = [
                ("NSUnits", Int(bitPattern: allowedUnits.rawValue)), ("NSKBSize", Int(countStyle.rawValue)),
                ("NSFormattingContext", Int(formattingContext.rawValue)),
            ]
            for (key, number) in numbers where number != 0 { archiver.encode(number, forKey: key) }
            let flags = [
                ("NSZeroPad", zeroPadsFractionDigits), ("NSActual", includesActualByteCount),
                ("NSNoNonnumeric", !allowsNonnumericFormatting), ("NSNoUnit", !includesUnit),
                ("NSNoCount", !includesCount), ("NSNoAdaptive", !isAdaptive),
            ]
            for (key, isSet) in flags where isSet { archiver.encode(true, forKey: key) }
        }
    }
}

extension ISO8601DateFormatter: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(ISO8601DateFormatter.self, of: self) {
            archiver.encode(Int(bitPattern: formatOptions.rawValue), forKey: "NS.formatOptions")
            archiver.encode(timeZone, forKey: "NS.timeZone")
        }
    }
}

extension FoundationForm {
    static let formatters = [
        FoundationForm("NSByteCountFormatter", byteCountFormatter),
        FoundationForm("NSISO8601DateFormatter", dateFormatter),
    ]

    private static func byteCountFormatter(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let formatter = ByteCountFormatter()
        let units = try fields.integer("NSUnits") ?? 0
        guard (0...0xFFFF).contains(units),
            let style = ByteCountFormatter.CountStyle(rawValue: .init(try fields.integer("NSKBSize") ?? 0)),
            let context = Formatter.Context(rawValue: .init(try fields.integer("NSFormattingContext") ?? 0))
        else { throw fields.malformed("with a number out of range") }
        formatter.allowedUnits = .init(rawValue: UInt(units))
        formatter.countStyle = style
        formatter.formattingContext = context
        formatter.zeroPadsFractionDigits = try fields.bool("NSZeroPad")
        formatter.includesActualByteCount = try fields.bool("NSActual")
        formatter.allowsNonnumericFormatting = try !fields.bool("NSNoNonnumeric")
        formatter.includesUnit = try !fields.bool("NSNoUnit")
        formatter.includesCount = try !fields.bool("NSNoCount")
        formatter.isAdaptive = try !fields.bool("NSNoAdaptive")
        return formatter
    }

    private static func dateFormatter(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let formatter = ISO8601DateFormatter()
        let options = try fields.requiredInteger("NS.formatOptions")
        guard (0...0xFFF).contains(options) else { throw fields.malformed("with options that there are not") }
        formatter.formatOptions = .init(rawValue: UInt(options))
        if let zone = try fields.optional(TimeZone.self, "NS.timeZone") { formatter.timeZone = zone }
        return formatter
    }
}
