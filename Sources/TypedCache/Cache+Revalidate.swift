extension Cache {
    /// Returns the value for `key`; if there is no fresh one, a producer loads it. It gets the expired value, and can
    /// ask a server whether that has changed.
    ///
    /// ```swift
    /// let page = try await pages.fetch(forKey: url, expiration: expiration) { former in
    ///     guard let new = try await server.page(url, unless: former?.tag) else { return .unchanged() }
    ///     return .new(new)
    /// }
    /// ```
    ///
    /// An expired value is available while a stale window keeps it. The producer answers with a new value, which is
    /// saved, or that the value is unchanged: then its entry gets a new deadline, and the fetch returns it. For that
    /// the disk writes the entry again as it is. The producer also gets a value that is loaded ahead of its deadline.
    ///
    /// Otherwise as for a producer without a parameter: concurrent callers share one producer of either kind.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - options: how a missing value is loaded.
    ///   - expiration: how long a new or an unchanged value may be used, unless the answer says it; `nil` for the
    ///     cache's own default.
    ///   - tags: groups that a new entry belongs to, unless the answer says it.
    ///   - producer: gets the expired value; `nil` if there is none or it cannot be decoded.
    /// - Throws: as with a producer without a parameter; ``CacheError`` with code `.nothingToRevalidate` if the
    ///   producer answers `.unchanged` and there was no expired value.
    public nonisolated(nonsending) func fetch(
        forKey key: some CacheKey,
        options: LoadOptions = LoadOptions(),
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        revalidating producer: @escaping @Sendable (_ former: Value?) async throws -> Revalidated<Value>
    ) async throws -> Value {
        let key = try entryKey(key)
        if !tags.isEmpty { _ = try core.naming(key) { () throws(CacheError) in try EntryTags.check(tags) } }
        let hit = try find(key)
        if let hit, options.earlyRefresh == nil, let value = try hitValue(hit) { return value }
        let plan = try core.naming(key) { () throws(CacheError) in
            try LoadPlan(self, options, expiration: expiration, tags: tags, revalidates: true) { keys, formers in
                [key.text: try await producer(formers[key.text])]
            }
        }
        return try await load(key, hit: hit, by: plan)
    }

    /// Returns the values for some keys; one call of a producer, which gets the expired values, loads the others.
    ///
    /// Keys that are being loaded already are waited for, not loaded again. All else is as for one key.
    ///
    /// - Parameters:
    ///   - keys: each 1 to 1,024 UTF-8 bytes.
    ///   - options: how a missing value is loaded.
    ///   - expiration: how long new or unchanged values may be used, unless the answer says it; `nil` for the cache's
    ///     own default.
    ///   - tags: groups that new entries belong to, unless the answer says it.
    ///   - producer: gets the keys without a fresh value and their expired values, and returns answers by key; a key
    ///     that it leaves out is left out of the result, other keys are ignored.
    /// - Returns: the values, by key.
    /// - Throws: as for one key.
    public nonisolated(nonsending) func fetch<Key: CacheKey>(
        forKeys keys: some Sequence<Key>,
        options: LoadOptions = LoadOptions(),
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        revalidating producer:
            @escaping @Sendable (
                _ missing: [Key],
                _ formers: [Key: Value]
            ) async throws -> [Key: Revalidated<Value>]
    ) async throws -> [Key: Value] {
        let names = try core.naming { () throws(CacheError) in try KeyNames(keys) }
        let plan = try core.naming { () throws(CacheError) in
            try LoadPlan(self, options, expiration: expiration, tags: tags, revalidates: true) { texts, formers in
                names.texts(of: try await producer(names.keys(of: texts), names.named(formers)))
            }
        }
        return try await load(names, by: plan)
    }
}
