import Foundation
import KeyedArchive
import TypedCache

/// A recipe of the present app: the class of the former one, renamed, with a field more.
final class Recipe: NSObject, NSCoding {
    static let formerNames = ["porting.OldRecipe"]

    let title: String
    let ingredients: [Ingredient]
    let servings: Int

    required init?(coder: NSCoder) {
        do {
            title = try coder.decode(String.self, forKey: "title")
            ingredients = try coder.decode([Ingredient].self, forKey: "ingredients")
            // The former app did not have it.
            servings = try coder.decodeIfPresent(Int.self, forKey: "servings") ?? 4
        } catch {
            return nil  // thrown where the archive is opened
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "title")
        coder.encode(ingredients, forKey: "ingredients")
        coder.encode(servings, forKey: "servings")
    }
}

// A final class can be its own wrapper.
extension Recipe: WrapperEncoder, Encoded {
    static var allowedClasses: [AnyClass] { [Ingredient.self] }
    var value: Recipe? { self }
    var encoder: Recipe { self }
}

/// An ingredient; in the former app its amount was a whole number.
final class Ingredient: NSObject, NSCoding, FormerlyNamed {
    static let formerNames = ["porting.OldIngredient"]

    let name: String
    let grams: Double

    required init?(coder: NSCoder) {
        do {
            name = try coder.decode(String.self, forKey: "name")
            grams = try coder.decode(Double.self, forKey: "grams")
        } catch {
            return nil
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(grams, forKey: "grams")
    }
}
