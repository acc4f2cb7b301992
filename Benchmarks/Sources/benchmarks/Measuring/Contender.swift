/// One way to do a piece of work.
struct Contender {
    let name: String
    /// Does the work that many times.
    let run: (_ count: Int) throws -> Void

    /// - Parameter body: does the work once, and hands the result over; told how often it was done before.
    init<Result>(_ name: String, _ body: @escaping (_ index: Int) throws -> Result) {
        self.name = name
        run = { count in
            for index in 0..<count { blackHole(try body(index)) }
        }
    }
}
