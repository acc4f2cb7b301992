/// Waits a millisecond, for loops that wait until another task has come to a certain point.
///
/// A loop that only yields would keep a processor from the tests that run beside it.
package func pause() async {
    try? await Task.sleep(for: .milliseconds(1))
}
