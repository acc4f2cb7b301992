import RedisWire

/// The user and password, or token, of a server. Printing shows neither.
public struct SharedCredentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// `nil` for the server's default user.
    public let user: String?
    /// The password or token.
    public let password: String

    /// Makes credentials; of the server's default user, unless one is given.
    public init(user: String? = nil, password: String) {
        self.user = user
        self.password = password
    }

    /// Neither user nor password.
    public var description: String { "SharedCredentials(hidden)" }
    /// The same as ``description``: neither user nor password.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows neither user nor password.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
