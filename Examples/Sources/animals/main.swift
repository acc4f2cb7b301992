import TypedCache

let zoo = try Cache<Order>(name: "zoo")
let lion = SubFamily(species: "Lion", genus: "Panther", family: "Felid", order: "Carnivore")
try zoo.save(lion, forKey: "lion")

// The cache's type is the superclass; a fetch gives back an object of the saved subclass.
if let animal = try zoo.fetch(SubFamily.self, forKey: "lion") {
    print("Animal - \(animal)")
}
