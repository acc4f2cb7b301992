import Foundation

/// The classes that may be instantiated from an archive.
package struct ExpectedClasses {
    package private(set) var classes: [AnyClass]

    package init(_ classes: [AnyClass]) { self.classes = classes }

    static var ofPropertyLists: ExpectedClasses {
        ExpectedClasses([
            NSString.self, NSNumber.self, NSData.self, NSDate.self, NSArray.self, NSDictionary.self,
        ])
    }

    /// Expects one class more.
    mutating func add(_ cls: AnyClass) {
        if !classes.contains(where: { $0 == cls }) { classes.append(cls) }
    }

    /// The names of the classes, for messages: `A`, `A or B`; of many the first ones.
    package var names: String {
        let most = 5
        var names = classes.prefix(most).map { ClassNames.name(of: $0) }
        if classes.count > most { names.append("\(classes.count - most) more") }
        guard let last = names.popLast() else { return "no class" }
        return names.isEmpty ? last : "\(names.joined(separator: ", ")) or \(last)"
    }

    /// The class of a name, if it is one of these or a subclass of one.
    package func find(_ name: String) -> AnyClass? {
        let portable = ClassNames.portable(name)
        for cls in classes where ArchivedClass.of(cls).name == portable { return cls }
        guard !classes.isEmpty, let found = ClassNames.resolve(name), allows(found) else { return nil }
        return found
    }

    /// The class among these that has `name` as a former name.
    package func find(former name: String) -> AnyClass? { classes.first { isFormerName(name, of: $0) } }

    package func allows(_ cls: AnyClass) -> Bool {
        classes.contains { isSubclass(cls, of: $0) }
    }

    /// Whether a decoded object is of one of the classes, or bridges to one.
    package func allows(_ object: Any) -> Bool {
        if let cls = type(of: object) as? AnyClass { return allows(cls) }
        let bridged: AnyClass? =
            switch object {
            case is String: NSString.self
            case is Double: NSNumber.self
            case is Data: NSData.self
            case is Date: NSDate.self
            case is URL: NSURL.self
            case is UUID: NSUUID.self
            case is [Any]: NSArray.self
            case is [AnyHashable: Any]: NSDictionary.self
            case is Set<AnyHashable>: NSSet.self
            case is IndexSet: NSIndexSet.self
            case is IndexPath: NSIndexPath.self
            case is CharacterSet: NSCharacterSet.self
            case is Locale: NSLocale.self
            case is TimeZone: NSTimeZone.self
            case is Calendar: NSCalendar.self
            case is DateInterval: NSDateInterval.self
            case is URLQueryItem: NSURLQueryItem.self
            default: nil
            }
        return bridged.map(allows) ?? false
    }
}

/// The class that a type is, or `nil`.
///
/// A function, because `NSCoding` is a protocol of classes on Apple platforms: there, a cast of `any NSCoding.Type`
/// that is written out gets a warning that it always succeeds.
@inline(__always)
package func anyClass(_ type: Any.Type) -> AnyClass? { type as? AnyClass }

package func isSubclass(_ cls: AnyClass, of other: AnyClass) -> Bool {
    var next: AnyClass? = cls
    while let current = next {
        if current == other { return true }
        next = _getSuperclass(current)
    }
    return false
}
