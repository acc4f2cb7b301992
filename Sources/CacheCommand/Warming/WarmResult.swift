/// The summary of warming a cache, and the failure if one ended it; the end of the source, the limit and a signal are
/// no failures.
struct WarmResult {
    let summary: WarmSummary
    let failure: (any Error)?
}
