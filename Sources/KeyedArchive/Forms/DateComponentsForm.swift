import Foundation

// NSDateComponents:
//
//     NS.era, NS.year, NS.month, …     numbers; those that are not set are Int.max, or left out
//     NS.leapMonth                     0 or 1; Foundation on Linux has a Boolean NS.isLeapMonth
//     NS.calendar, NS.timezone         objects, or nil

extension DateComponents: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archive(into: archiver, of: nil) }

    fileprivate func archive(into archiver: KeyedArchiver, of object: AnyObject?) -> ArchiveWriter.UID {
        archiver.form(NSDateComponents.self, of: object) {
            for (key, component) in Self.archivedNumbers {
                archiver.encode(self[keyPath: component] ?? Self.undefined, forKey: key)
            }
            // Written only where they are set: not every Foundation knows these keys.
            if let dayOfYear { archiver.encode(dayOfYear, forKey: "NS.dayOfYear") }
            if let isLeapMonth {
                archiver.encode(isLeapMonth ? 1 : 0, forKey: "NS.leapMonth")
                archiver.encode(isLeapMonth, forKey: "NS.isLeapMonth")
            }
            archiver.encode(calendar, forKey: "NS.calendar")
            archiver.encode(timeZone, forKey: "NS.timezone")
        }
    }

    /// The number of a component that is not set.
    fileprivate static let undefined = Int.max

    /// The components that both Foundation classes have.
    fileprivate static var archivedNumbers: [(String, WritableKeyPath<DateComponents, Int?>)] {
        [
            ("NS.era", \.era), ("NS.year", \.year), ("NS.quarter", \.quarter), ("NS.month", \.month),
            ("NS.day", \.day), ("NS.hour", \.hour), ("NS.minute", \.minute), ("NS.second", \.second),
            ("NS.nanosec", \.nanosecond), ("NS.weekOfYear", \.weekOfYear), ("NS.weekOfMonth", \.weekOfMonth),
            ("NS.yearForWOY", \.yearForWeekOfYear), ("NS.weekday", \.weekday),
            ("NS.weekdayOrdinal", \.weekdayOrdinal),
        ]
    }
}

extension NSDateComponents: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        (self as DateComponents).archive(into: archiver, of: self)
    }
}

extension FoundationForm {
    static let dateComponents = [FoundationForm("NSDateComponents", components)]

    // An NSDateComponents, which can be changed, and which two objects may share.
    private static func components(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        var components = DateComponents()
        let numbers = DateComponents.archivedNumbers + [("NS.dayOfYear", \.dayOfYear)]
        for (key, component) in numbers {
            if let number = try fields.integer(key), number != DateComponents.undefined {
                components[keyPath: component] = number
            }
        }
        let isLeapMonth = try fields.flag("NS.leapMonth")
        let isLeapMonthToo = try fields.flag("NS.isLeapMonth")
        components.isLeapMonth = isLeapMonth ?? isLeapMonthToo
        components.calendar = try fields.optional(Calendar.self, "NS.calendar")
        components.timeZone = try fields.optional(TimeZone.self, "NS.timezone")
        return components as NSDateComponents
    }
}
