import Foundation

// NSNotification:
//
//     NS.name, NS.object, NS.userinfo     text; any object or nil; dictionary or nil
//
// NSError:
//
//     NSDomain, NSCode, NSUserInfo        text; number; dictionary or nil
//
// NSURLQueryItem:
//
//     NS.name, NS.value                   text; text or nil
//
// NSPersonNameComponents:
//
//     NS.nameComponentsPrivate            _NSPersonNameComponentsData:
//         NS.namePrefix, NS.givenName, NS.middleName, NS.familyName, NS.nameSuffix, NS.nickname    text or nil
//         NS.phoneticRepresentation       NSPersonNameComponents or nil
//
// Foundation on Linux has the names in the outer object, without the phonetic ones; that is read here too.

// Notifications and errors hold other values, and hashing an NSError ends the process on Linux.
extension Notification: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archive(into: archiver, of: nil) }

    fileprivate func archive(into archiver: KeyedArchiver, of instance: AnyObject?) -> ArchiveWriter.UID {
        if archiver.requiresSecureCoding {
            archiver.record(ArchiveError(.classNotAllowed, "NSNotification does not support secure coding"))
            return 0
        }
        return archiver.form(NSNotification.self, of: instance) {
            archiver.encode(name.rawValue, forKey: "NS.name")
            archiver.encode(object, forKey: "NS.object")
            archiver.encode(userInfo, forKey: "NS.userinfo")
        }
    }
}

extension NSNotification: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        (self as Notification).archive(into: archiver, of: self)
    }
}

extension NSError: ArchiveCollection {
    /// A value of the user info that cannot be archived is an error, as in every dictionary: nothing is left out
    /// after the caller's back. Swift errors in it are archived as the `NSError` that they bridge to.
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSError.self, of: self) {
            archiver.encode(domain, forKey: "NSDomain")
            archiver.encode(code, forKey: "NSCode")
            let info = userInfo.mapValues { value in (value as? any Error).map { $0 as NSError } ?? value }
            archiver.encode(info.isEmpty ? nil : info as Any?, forKey: "NSUserInfo")
        }
    }
}

extension URLQueryItem: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSURLQueryItem.self) {
            archiver.encode(name, forKey: "NS.name")
            archiver.encode(value, forKey: "NS.value")
        }
    }
}

extension NSURLQueryItem: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.shared(self) { ($0 as URLQueryItem).archive(into: archiver) }
    }
}

extension PersonNameComponents: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archive(into: archiver, of: nil) }

    fileprivate func archive(into archiver: KeyedArchiver, of object: AnyObject?) -> ArchiveWriter.UID {
        archiver.form(NSPersonNameComponents.self, of: object) {
            let uid = archiver.container(Self.names, of: nil) {
                for (key, name) in Self.archivedNames { archiver.encode(self[keyPath: name], forKey: key) }
                archiver.encode(phoneticRepresentation, forKey: "NS.phoneticRepresentation")
            }
            if !archiver.hasFailed {
                archiver.writer.set("NS.nameComponentsPrivate", archiver.writer.reference(to: uid))
            }
        }
    }

    /// The bytes of all names, phonetic ones too.
    var archivedByteCount: Int {
        var count = 0
        var next: PersonNameComponents? = self
        while let components = next {
            for (_, name) in Self.archivedNames { count += components[keyPath: name]?.utf8.count ?? 0 }
            next = components.phoneticRepresentation
        }
        return count
    }

    private static let names = ArchivedClass(name: "_NSPersonNameComponentsData")

    fileprivate static var archivedNames: [(String, WritableKeyPath<PersonNameComponents, String?>)] {
        [
            ("NS.namePrefix", \.namePrefix), ("NS.givenName", \.givenName), ("NS.middleName", \.middleName),
            ("NS.familyName", \.familyName), ("NS.nameSuffix", \.nameSuffix), ("NS.nickname", \.nickname),
        ]
    }
}

extension NSPersonNameComponents: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        (self as PersonNameComponents).archive(into: archiver, of: self)
    }
}

extension FoundationForm {
    static let records = [
        FoundationForm("NSNotification", notification), FoundationForm("NSError", error),
        FoundationForm("NSURLQueryItem", queryItem), FoundationForm("NSPersonNameComponents", personName),
        FoundationForm("_NSPersonNameComponentsData", personName),
    ]

    // An NSNotification: the object in it stays the same object.
    private static func notification(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let name = try fields.required(String.self, "NS.name")
        let object = try fields.object("NS.object")
        let userInfo = try fields.dictionary([AnyHashable: Any].self, "NS.userinfo")
        return NSNotification(name: Notification.Name(name), object: object, userInfo: userInfo)
    }

    private static func error(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let domain = try fields.required(String.self, "NSDomain")
        let code = try fields.requiredInteger("NSCode")
        let userInfo = try fields.dictionary([String: Any].self, "NSUserInfo")
        return NSError(domain: domain, code: code, userInfo: userInfo)
    }

    private static func queryItem(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let name = try fields.required(String.self, "NS.name")
        return URLQueryItem(name: name, value: try fields.optional(String.self, "NS.value"))
    }

    // An NSPersonNameComponents, which can be changed, and which two objects may share.
    private static func personName(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        if let inner = try fields.optional(PersonNameComponents.self, "NS.nameComponentsPrivate") {
            return inner as NSPersonNameComponents
        }
        var components = PersonNameComponents()
        for (key, name) in PersonNameComponents.archivedNames {
            components[keyPath: name] = try fields.optional(String.self, key)
        }
        components.phoneticRepresentation = try fields.optional(
            PersonNameComponents.self,
            "NS.phoneticRepresentation"
        )
        return components as NSPersonNameComponents
    }
}
