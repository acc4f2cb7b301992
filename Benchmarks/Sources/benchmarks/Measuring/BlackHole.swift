/// Takes a result, so that the optimizer cannot leave out the work that made it.
@inline(never)
func blackHole<T>(_ value: T) {
    withExtendedLifetime(value) {}
}
