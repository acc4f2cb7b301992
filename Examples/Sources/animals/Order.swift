import Foundation
import TypedCache

/// The top of a class graph; each class wraps itself, since it adopts NSCoding already.
class Order: NSObject, NSCoding {
    let order: String

    init(order: String) {
        self.order = order
    }

    required init?(coder: NSCoder) {
        guard let order = coder.decodeObject(forKey: "order") as? String else { return nil }
        self.order = order
    }

    func encode(with coder: NSCoder) {
        coder.encode(order, forKey: "order")
    }
}

extension Order: WrapperEncoder { var value: Order? { self } }
extension Order: Encoded { var encoder: Order { self } }
