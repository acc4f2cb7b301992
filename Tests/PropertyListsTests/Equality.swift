import Foundation
import PropertyLists

/// Whether two objects of property lists are equal. Dates before 1583, for which Foundation on Linux uses another
/// calendar, are not compared.
func isEqual(_ left: Any, _ right: Any) -> Bool {
    switch (left, right) {
    case (let left as [String: Any], let right as [String: Any]):
        left.count == right.count
            && left.allSatisfy { key, value in right[key].map { isEqual(value, $0) } ?? false }
    case (let left as [Any], let right as [Any]):
        left.count == right.count && zip(left, right).allSatisfy { isEqual($0, $1) }
    case (let left as Date, let right as Date):
        left == right || left.timeIntervalSinceReferenceDate < -13_000_000_000
    case (let left as PropertyListUID, let right as NSObject):
        right.description.contains("UID") && left.value >= 0
    case (let left as NSNumber, let right as NSNumber): left == right
    case (let left as String, let right as String): left == right
    case (let left as Data, let right as Data): left == right
    default: false
    }
}
