import Foundation

/// An answer's identity for a conditional request (RFC 9110, section 8.8).
struct Validators: Hashable, Sendable {
    /// As the server wrote it, weak or strong.
    var entityTag: String?
    /// As the server wrote it.
    var lastModified: String?
    /// The resource that they belong to: another one's answer, with the same model, has other ones.
    var representation: String
    /// How long that resource's answer is fresh, which counts again if the server calls it unchanged and says no more.
    var lifetime: StatedLifetime?

    /// - Returns: `nil` if the answer has no validator that can be sent back.
    init?(of headers: ModelHeaders, representation: String, lifetime: StatedLifetime?, now: Date) {
        entityTag = headers["etag"].flatMap(Self.entityTag)
        lastModified = headers["last-modified"].flatMap { HTTPDate.parse($0, now: now) == nil ? nil : $0 }
        guard entityTag != nil || lastModified != nil else { return nil }
        self.representation = representation
        self.lifetime = lifetime
    }

    /// An entity tag of at most 1,024 bytes; without its quotes too, as some servers write it.
    ///
    /// A list of tags is not one, nor is `*`: the server would call something unchanged that was never asked about.
    private static func entityTag(_ header: String) -> String? {
        let tag = header[...].trimmed
        guard (1...1_024).contains(tag.utf8.count), tag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return nil
        }
        let opaque = opaque(tag)
        guard !opaque.utf8.contains(UInt8(ascii: "\"")) else { return nil }
        let isQuoted = opaque.utf8.count < tag.utf8.count
        guard isQuoted || (!opaque.utf8.contains(UInt8(ascii: ",")) && opaque != "*") else { return nil }
        return String(tag)
    }

    /// The part of an entity tag that weak comparison looks at.
    private static func opaque(_ tag: Substring) -> Substring {
        var bytes = tag.utf8
        if bytes.starts(with: "W/\"".utf8) { bytes = bytes.dropFirst(2) }
        guard bytes.count > 1, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return tag
        }
        return Substring(bytes.dropFirst().dropLast())
    }

    /// Whether they belong to the same answer, its lifetime aside.
    func areSame(as other: Validators?) -> Bool {
        entityTag == other?.entityTag && lastModified == other?.lastModified
            && representation == other?.representation
    }

    /// Whether "not modified" with these headers is said of this answer (RFC 9111, section 4.3.4).
    ///
    /// Tags are compared weakly, as the server does for `If-None-Match`: a proxy that compresses answers makes their tags
    /// weak, but not always the tag of a 304.
    func areConfirmed(by headers: ModelHeaders) -> Bool {
        if let tag = headers["etag"] {
            guard let entityTag else { return false }
            return Self.opaque(tag[...].trimmed) == Self.opaque(entityTag[...])
        }
        guard let date = headers["last-modified"], let lastModified else { return true }
        return date == lastModified
    }
}

extension Validators: Codable {
    enum CodingKeys: String, CodingKey {
        case entityTag = "e"
        case lastModified = "m"
        case representation = "u"
        case seconds = "s"
        case until = "x"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entityTag = try container.decodeIfPresent(String.self, forKey: .entityTag)
        lastModified = try container.decodeIfPresent(String.self, forKey: .lastModified)
        representation = try container.decode(String.self, forKey: .representation)
        if let seconds = try container.decodeIfPresent(Int.self, forKey: .seconds) {
            lifetime = seconds < 0 ? .mustAsk : .seconds(min(seconds, ResponseLifetime.longest))
        } else if let moment = try container.decodeIfPresent(Double.self, forKey: .until) {
            lifetime = .until(Date(timeIntervalSinceReferenceDate: moment))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(entityTag, forKey: .entityTag)
        try container.encodeIfPresent(lastModified, forKey: .lastModified)
        try container.encode(representation, forKey: .representation)
        switch lifetime {
        case nil: break
        case .mustAsk?: try container.encode(-1, forKey: .seconds)
        case .seconds(let seconds)?: try container.encode(seconds, forKey: .seconds)
        case .until(let moment)?: try container.encode(moment.timeIntervalSinceReferenceDate, forKey: .until)
        }
    }
}
