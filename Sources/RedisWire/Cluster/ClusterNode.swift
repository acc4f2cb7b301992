/// A connection to one node of a cluster.
package protocol ClusterNode: AnyObject, Sendable {
    /// Sends commands without waiting for their answers, one after another with no other command in between.
    ///
    /// - Parameter deadline: when their caller is told that there is no answer; `nil` for the soft timeout.
    func begin(_ commands: [RedisCommand], until deadline: ContinuousClock.Instant?) -> RedisPending

    /// The bytes of commands that were sent, and of all that came.
    var byteCounts: (sent: Int, received: Int) { get }

    /// How many connections to the node have been opened, one after another.
    var connectionCount: Int { get }

    /// Ends the connection: calls that wait, and later ones, fail with `.closed`. Does not block.
    func close()
}
