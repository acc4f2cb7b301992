/// Deletes the drafts and lock files that dead sessions have left behind. None of its failures fails a save.
struct DraftCleaner {
    let directory: Directory
    let ownSession: String

    func clean() {
        var drafts: [String: [String]] = [:]
        bestEffort("files that were not listed stay for another session") {
            try directory.forEachName { fileName in
                if let name = DraftName(fileName), name.session != ownSession {
                    drafts[name.session, default: []] += name.isLock ? [] : [fileName]
                }
                return true
            }
        }
        for (session, fileNames) in drafts.sorted(by: { $0.key < $1.key }) {
            bestEffort("another user's file, say, stays for another session") { try clean(session, fileNames) }
        }
    }

    private func clean(_ session: String, _ drafts: [String]) throws(SystemError) {
        let lockName = session + ".lock"
        // A session makes its lock before its drafts, and those were seen: no lock now means that it is dead.
        guard try directory.status(lockName) != nil else {
            for draft in drafts { try directory.remove(draft) }
            return
        }
        let lock = try directory.file(lockName)
        try lock.lock(waits: false)
        // Locked, but maybe by name only after another cleaner deleted it; then there is nothing left to do.
        guard try directory.status(lockName)?.identity == lock.status().identity else { return }
        for draft in drafts { try directory.remove(draft) }
        try directory.remove(lockName)
    }
}
