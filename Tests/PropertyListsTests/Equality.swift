import Foundation
import PropertyLists

/// Whether two objects of property lists are equal.
///
/// For Foundation on Linux, text before 1583-01-01 names other days, because it uses the Julian calendar for them: its
/// dates are a whole number of days apart from those here, at most 12.
func isEqual(_ left: Any, _ right: Any) -> Bool {
    switch (left, right) {
    case (let left as [String: Any], let right as [String: Any]):
        left.count == right.count
            && left.allSatisfy { key, value in right[key].map { isEqual(value, $0) } ?? false }
    case (let left as [Any], let right as [Any]):
        left.count == right.count && zip(left, right).allSatisfy { isEqual($0, $1) }
    case (let left as Date, let right as Date):
        left == right || isEqualByJulianCalendar(left, right)
    case (let left as PropertyListUID, let right as NSObject):
        right.description.contains("{value = \(left.value)}")
    case (let left as NSNumber, let right as NSNumber): left == right
    case (let left as String, let right as String): left == right
    case (let left as Data, let right as Data): left == right
    default: false
    }
}

private func isEqualByJulianCalendar(_ left: Date, _ right: Date) -> Bool {
    let difference = abs(left.timeIntervalSince(right))
    return left.timeIntervalSinceReferenceDate < -13_000_000_000 && difference <= 12 * 86_400
        && difference.truncatingRemainder(dividingBy: 86_400) == 0
}
