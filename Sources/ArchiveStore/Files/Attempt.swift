// The two ways in which the stores treat a failure: `attempt` gives it words and passes it on, `bestEffort` ends it.

/// Makes system calls for `action`, which a failure names, as it does `path`.
///
/// - Throws: `.io`.
func attempt<Result: ~Copyable>(
    _ action: String,
    _ path: @autoclosure () -> String,
    _ body: () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw StoreError(error, path: path(), action: action)
    }
}

/// As above, on a directory: a failure says if something else stands in its place.
///
/// - Throws: `.invalidDirectory`, `.io`.
func attempt<Result: ~Copyable>(
    _ action: String,
    directory path: String,
    _ body: () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw StoreError(directory: error, path: path, action: action)
    }
}

/// As the first one, for one call.
func attempt<Result: ~Copyable>(
    _ action: String,
    _ path: @autoclosure () -> String,
    _ call: @autoclosure () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do throws(SystemError) {
        return try call()
    } catch {
        throw StoreError(error, path: path(), action: action)
    }
}

/// Does work that may fail without harm: `reason` says why, for readers.
///
/// This layer has no observer to report to, and no caller waits for the work, so the failure ends here: a later call
/// does the work again, or meets the cause itself.
package func bestEffort<Failure>(_ reason: StaticString, _ body: () throws(Failure) -> Void) {
    do throws(Failure) {
        try body()
    } catch {
        // Dropped, for the reason given.
    }
}
