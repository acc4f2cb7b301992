#if canImport(Darwin)
    import Foundation

    // Apple's own calls for collections end in two methods, and those end here.
    extension KeyedUnarchiver {
        func array(amongClasses classes: [AnyClass], forKey key: String) -> [Any]? {
            cast(decodeObject(amongClasses: [NSArray.self] + classes, forKey: key), to: [Any].self, forKey: key)
        }

        func dictionary(amongClasses classes: [AnyClass], forKey key: String) -> [AnyHashable: Any]? {
            let object = decodeObject(amongClasses: [NSDictionary.self] + classes, forKey: key)
            return cast(object, to: [AnyHashable: Any].self, forKey: key)
        }
    }
#endif
