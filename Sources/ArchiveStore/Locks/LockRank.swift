/// A lock's place in the order in which locks are taken, and its name for messages.
///
/// A thread that holds a lock takes only locks of higher numbers. The number space is one for all modules: a lock of a
/// module above comes before those of the modules that it calls with the lock held.
@usableFromInline
package struct LockRank: Sendable {
    package let number: Int
    package let name: StaticString

    package init(_ name: StaticString, number: Int) {
        self.number = number
        self.name = name
    }
}
