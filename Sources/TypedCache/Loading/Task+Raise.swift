extension Task {
    /// Raises the task's priority, on systems that can: the runtime does so only for a task that is awaited itself, and the
    /// result of this one is handed to continuations.
    package func raise(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) { escalatePriority(to: priority) }
    }
}
