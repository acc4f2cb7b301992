import ModelCache

extension Models {
    /// Suspends until no load and no write is under way, background ones included.
    public nonisolated(nonsending) func settle() async { await settled() }
}
