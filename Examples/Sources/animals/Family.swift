import Foundation

class Family: Order {
    let family: String

    init(family: String, order: String) {
        self.family = family
        super.init(order: order)
    }

    required init?(coder: NSCoder) {
        guard let family = coder.decodeObject(forKey: "family") as? String else { return nil }
        self.family = family
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(family, forKey: "family")
    }
}
