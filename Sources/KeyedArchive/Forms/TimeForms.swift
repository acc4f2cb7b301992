import Foundation
import Synchronization

// NSLocale:
//
//     NS.identifier    text
//
// NSTimeZone:
//
//     NS.name          text
//     NS.data          data of the time-zone file, or nil; Apple's reader goes by the name alone, and so does this
//
// NSCalendar:
//
//     NS.identifier    text
//     NS.timezone      NSTimeZone
//     NS.locale        NSLocale
//     NS.firstwkdy     number, 1...7
//     NS.mindays       number, 1...7
//     NS.gstartdate    NSDate of the first Gregorian day, or nil; Foundation has no public way to set it
//
// NSDateInterval:
//
//     NS.startDate     NSDate
//     NS.endDate       NSDate
//     NS.duration      real, in seconds, where it is not the dates' difference, which is rounded; this package's own

extension Locale: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if identifier.utf8.count > FoundationForm.nameLimit {
            archiver.record(
                ArchiveError(
                    .limitExceeded,
                    "a locale whose identifier has more than \(FoundationForm.nameLimit) bytes"
                )
            )
            return 0
        }
        return archiver.form(NSLocale.self) { archiver.encode(identifier, forKey: "NS.identifier") }
    }
}

extension NSLocale: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.shared(self) { ($0 as Locale).archive(into: archiver) }
    }
}

extension TimeZone: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        KnownTimeZones.object(for: self as NSTimeZone).write(into: archiver)
    }
}

extension NSTimeZone: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        // The one object of this name, so that an archive holds its data once.
        let known = KnownTimeZones.object(for: self)
        if known === self { return write(into: archiver) }
        // A place that was reserved for this object is filled, too.
        return archiver.shared(self) { _ in known.write(into: archiver) }
    }

    fileprivate func write(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSTimeZone.self, of: self) {
            archiver.encode(name, forKey: "NS.name")
            archiver.encode(data.isEmpty ? nil : data as Any?, forKey: "NS.data")
        }
    }
}

/// One object per name of a time zone, as Apple's Foundation has it.
private enum KnownTimeZones {
    /// A time zone never changes.
    private struct Known: @unchecked Sendable { let zone: NSTimeZone }

    private static let known = Mutex<[String: Known]>([:])
    private static let countLimit = 1_024

    static func object(for zone: NSTimeZone) -> NSTimeZone {
        let made = Known(zone: zone)
        return known.withLock { table in
            if let found = table[made.zone.name] { return found }
            if table.count >= countLimit { table.removeAll() }
            table[made.zone.name] = made
            return made
        }.zone
    }
}

extension Calendar: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archive(into: archiver, of: nil) }

    fileprivate func archive(into archiver: KeyedArchiver, of object: AnyObject?) -> ArchiveWriter.UID {
        archiver.form(NSCalendar.self, of: object) {
            archiver.encode((self as NSCalendar).calendarIdentifier.rawValue, forKey: "NS.identifier")
            archiver.encode(timeZone, forKey: "NS.timezone")
            archiver.encode(locale, forKey: "NS.locale")
            archiver.encode(firstWeekday, forKey: "NS.firstwkdy")
            archiver.encode(minimumDaysInFirstWeek, forKey: "NS.mindays")
            let start = identifier == .gregorian ? Self.gregorianStart : nil
            archiver.encode(start, forKey: "NS.gstartdate")
        }
    }

    /// 15 October 1582.
    private static let gregorianStart = Date(timeIntervalSinceReferenceDate: -13_197_600_000)
}

extension NSCalendar: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        (self as Calendar).archive(into: archiver, of: self)
    }
}

extension DateInterval: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        guard Self.isSound(from: start, to: end) else {
            archiver.record(ArchiveError(.unsupportedType, "a date interval without a start or an end"))
            return 0
        }
        return archiver.form(NSDateInterval.self) {
            archiver.encode(start, forKey: "NS.startDate")
            archiver.encode(end, forKey: "NS.endDate")
            if duration != end.timeIntervalSince(start) { archiver.encode(duration, forKey: "NS.duration") }
        }
    }

    /// Whether an interval can hold two dates, of which it keeps the distance: the start is finite, the end may be infinite.
    fileprivate static func isSound(from start: Date, to end: Date) -> Bool {
        start.timeIntervalSinceReferenceDate.isFinite && end >= start
            && (end.timeIntervalSince(start).isFinite || end.timeIntervalSinceReferenceDate == .infinity)
    }
}

extension NSDateInterval: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.shared(self) { ($0 as DateInterval).archive(into: archiver) }
    }
}

extension FoundationForm {
    static let times =
        [
            FoundationForm("NSLocale", locale), FoundationForm("NSTimeZone", timeZone),
            FoundationForm("NSCalendar", calendar), FoundationForm("NSDateInterval", dateInterval),
        ] + dateComponents

    /// The most bytes of a locale's identifier or a time zone's name.
    fileprivate static let nameLimit = 256

    private static func locale(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let identifier = try fields.required(String.self, "NS.identifier")
        // Foundation remembers every locale that was asked for.
        guard identifier.utf8.count <= nameLimit else { throw fields.malformed("with a name of absurd length") }
        return Locale(identifier: identifier)
    }

    private static func timeZone(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let name = try fields.required(String.self, "NS.name")
        // A name is a file's path, within the folder of time zones.
        guard !name.isEmpty, name.utf8.count <= nameLimit, !name.hasPrefix("/"), !name.contains(".."),
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw fields.malformed("with an invalid name") }
        guard let zone = TimeZone(identifier: name) else { throw fields.unknown("that is unknown here") }
        return zone
    }

    private static func calendar(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let name = try fields.required(String.self, "NS.identifier")
        guard let found = NSCalendar(identifier: NSCalendar.Identifier(rawValue: name)) else {
            throw fields.unknown("that is unknown here")
        }
        var calendar = found as Calendar
        if let zone = try fields.optional(TimeZone.self, "NS.timezone") { calendar.timeZone = zone }
        // First the locale, which brings a first weekday of its own.
        if let locale = try fields.optional(Locale.self, "NS.locale") { calendar.locale = locale }
        if let day = try fields.integer("NS.firstwkdy") {
            guard (1...7).contains(day) else { throw fields.malformed("with a weekday that there is not") }
            calendar.firstWeekday = day
        }
        if let days = try fields.integer("NS.mindays") {
            guard (1...7).contains(days) else { throw fields.malformed("with a week of more than seven days") }
            calendar.minimumDaysInFirstWeek = days
        }
        return calendar
    }

    private static func dateInterval(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let start = try fields.required(Date.self, "NS.startDate")
        let end = try fields.required(Date.self, "NS.endDate")
        guard DateInterval.isSound(from: start, to: end) else {
            throw fields.malformed("that ends before it starts")
        }
        guard let duration = try fields.double("NS.duration") else { return DateInterval(start: start, end: end) }
        guard duration >= 0, start + duration == end else {
            throw fields.malformed("with a duration that does not lead to its end")
        }
        return DateInterval(start: start, duration: duration)
    }
}
