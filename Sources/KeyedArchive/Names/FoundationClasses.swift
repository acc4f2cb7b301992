/// Facts about Foundation's own classes that the coders need.
package enum FoundationClasses {
    /// Whether a class is Foundation's own, so that its coding methods cannot be used: those insist on Foundation's own
    /// coders and end the process when they meet another.
    package static func areCodedHere(_ type: Any.Type) -> Bool {
        #if canImport(Darwin)
            return false
        #else
            return ArchivedClass.of(type).isFoundations
        #endif
    }

    /// Whether values of a type cannot be a set's member or a dictionary's key in an archive: see `ArchiveCollection`.
    // The handler remembers it: the first cast to a protocol takes 50 µs for each type.
    package static func isCollection(_ type: Any.Type) -> Bool { ArchiveHandler.for(type).isCollection }

    /// Whether a name is one that Foundation gives to its private classes, which appear in archives of other
    /// platforms.
    static func isPrivate(_ name: String) -> Bool {
        ["NSConcrete", "__NS", "_NS", "OC_"].contains { name.hasPrefix($0) }
    }
}
