import TypedCache

let berlin = Coordinate(latitude: 52.52437, longitude: 13.41053)
let cache = try Cache<Coordinate>(name: "coordinateCache")

// A cache of one object …
try cache.save(object: berlin)
if let again = try cache.fetchObject() {
    print("object: \(again.latitude), \(again.longitude)")
}

// … or of many.
try cache.save(berlin, forKey: "home", expiration: .after(.seconds(3600)))
if let home = try cache.fetch(forKey: "home") {
    print("home: \(home.latitude), \(home.longitude)")
}

let work = try cache.fetch(forKey: "work")
print("work: \(work == nil ? "none" : "some")")
