/// What warming a cache came to, and what ended it if not the end of the source, its limit or a signal.
struct WarmResult {
    let summary: WarmSummary
    let failure: (any Error)?
}
