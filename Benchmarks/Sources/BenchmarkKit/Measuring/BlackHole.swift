/// Takes a result, so that the optimizer cannot leave out the work that made it.
///
/// Inlinable so that it is specialized where it is called: a generic call costs about as much as a memory hit.
@inlinable
@inline(never)
package func blackHole<T>(_ value: T) {
    withExtendedLifetime(value) {}
}
