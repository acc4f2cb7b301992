import ModelCache

extension Models {
    /// Suspends until no load and no write is under way, in the background either.
    public nonisolated(nonsending) func settle() async { await settled() }
}
