/// A service that knows which version a caller has, as one that answers 304 to an entity tag does.
actor Registry {
    struct Unreachable: Error {}

    private var version = 1
    private var isReachable = true
    private(set) var fullAnswers = 0
    private(set) var shortAnswers = 0

    /// The repository; `nil` if the caller's version is the current one.
    func repository(_ number: Int, unless version: Int?) throws -> Repository? {
        guard isReachable else { throw Unreachable() }
        if version == self.version {
            shortAnswers += 1
            return nil
        }
        fullAnswers += 1
        return Repository(number: number, name: "typed-cache", version: self.version)
    }

    func publish() { version += 1 }
    func unplug() { isReachable = false }
}
