/// An image of a report.
struct Chart {
    let title: String
    let svg: String
}
