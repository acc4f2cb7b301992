/// A city as an object, which is all that NSCache takes.
final class Box {
    let city: City

    init(_ city: City) { self.city = city }
}
