#if !canImport(Darwin)
    import Foundation

    /// The texts among the members of a set, or the keys of a dictionary, that is being read: equal ones become one.
    ///
    /// Two texts that are canonically equivalent, as "é" in one scalar and in two, are equal for Swift. They are equal
    /// for Foundation on Linux as well, but have different hashes there, and a set that finds both ends the process.
    struct EqualTexts {
        /// How many members there will be.
        private let memberCount: Int
        /// The texts so far while all are ASCII, which are equal only if their hashes are. Others may equal them: "K" is
        /// the canonical form of the Kelvin sign.
        private var plain: [AnyHashable] = []
        /// The first member with each text, once one is not ASCII.
        private var firsts: [String: AnyHashable]?

        init(memberCount: Int) { self.memberCount = memberCount }

        /// The first member that is the same text; the member itself if there is none, or if it is not text.
        mutating func first(equalTo member: AnyHashable) -> AnyHashable {
            guard let text = Self.text(of: member) else { return member }
            if firsts == nil {
                guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
                    if plain.isEmpty { plain.reserveCapacity(min(memberCount, 1_024)) }
                    plain.append(member)
                    return member
                }
                firsts = [:]
                for member in plain { _ = first(equalTo: member) }
                plain = []
            }
            if let first = firsts?[text] { return first }
            firsts?[text] = member
            return member
        }

        @inline(__always)
        private static func text(of member: AnyHashable) -> String? {
            let base = member.base
            if let text = content(of: base, as: String.self) { return text }
            guard type(of: base) is NSString.Type, let text = base as? NSString else { return nil }
            return String(text)
        }
    }
#endif
