extension Task {
    /// Raises the task's priority, on systems that can: it has to be done by hand for a task whose result others get by a
    /// continuation, and not by waiting for the task.
    package func raise(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) { escalatePriority(to: priority) }
    }
}
