import RedisWire

/// The user and password, or token, of a server. Printing shows neither.
public struct SharedCredentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// `nil` for the server's default user.
    public let user: String?
    public let password: String

    public init(user: String? = nil, password: String) {
        self.user = user
        self.password = password
    }

    public var description: String { "SharedCredentials(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
