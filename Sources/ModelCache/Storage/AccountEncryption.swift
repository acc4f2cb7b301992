import TypedCache

/// Whether an account's files are encrypted, with which keys, and how these are forgotten.
///
/// Erasing an account forgets its keys before it deletes files: what is left after a failure, or because the process ended in
/// between, cannot be read by anyone. See <doc:EncryptedAccounts>.
public struct AccountEncryption: Sendable {
    let disk: DiskSettings.Encryption
    /// `nil`: there are no keys to forget.
    let forget: (@Sendable () throws -> Void)?

    /// The files are not encrypted. An account that is encrypted is refused.
    public static let none = AccountEncryption(disk: .none, forget: nil)

    /// The files are encrypted with the keys that `provider` gives: see `DiskSettings.Encryption`.
    ///
    /// Only new accounts can be encrypted: one with files that are not is refused.
    ///
    /// - Parameters:
    ///   - provider: gives the key for new entries, and the former keys that stored entries may have. It is called when a cache of the
    ///     account is opened or meets another key, on any thread: it may block, and must not use the account. For an account
    ///     that has no key yet, it makes one.
    ///   - forget: deletes all keys of the account, where they are kept. It is called by ``Models/erase()`` and
    ///     ``Models/erase(account:directory:encryption:)``, and by the opening after one that was interrupted, on any thread:
    ///     it may block, and there may be no key any longer. If it throws, the account's files are deleted all the same, and
    ///     erasing throws.
    public static func keys(
        _ provider: @escaping @Sendable () throws -> (current: EncryptionKey, others: [EncryptionKey]),
        forget: @escaping @Sendable () throws -> Void
    ) -> AccountEncryption {
        AccountEncryption(disk: .keys(provider), forget: forget)
    }
}
