/// Deletes the drafts and lock files that dead sessions have left behind.
///
/// Nothing here fails a save: a file that cannot be deleted, say because it belongs to another user, stays for another
/// time.
struct DraftCleaner {
    let directory: Directory
    let ownSession: String

    func clean() {
        var drafts: [String: [String]] = [:]
        _ = Result { () throws(SystemError) in
            try directory.forEachName { fileName in
                if let name = DraftName(fileName), name.session != ownSession {
                    drafts[name.session, default: []] += name.isLock ? [] : [fileName]
                }
                return true
            }
        }
        for (session, fileNames) in drafts {
            _ = Result { () throws(SystemError) in try clean(session, fileNames) }
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
