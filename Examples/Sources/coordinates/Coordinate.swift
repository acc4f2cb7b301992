import TypedCache

struct Coordinate { let latitude, longitude: Double }

extension Coordinate: Encoded { var encoder: EncodableCoordinate { .init(coordinate: self) } }
