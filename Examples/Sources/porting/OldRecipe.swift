import Foundation

/// A recipe, as the former app had it.
final class OldRecipe: NSObject, NSCoding {
    private let title: String
    private let ingredients: [OldIngredient]

    init(_ title: String, _ ingredients: [OldIngredient]) {
        self.title = title
        self.ingredients = ingredients
    }

    required init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "title")
        coder.encode(ingredients, forKey: "ingredients")
    }
}

/// An ingredient, as the former app had it.
final class OldIngredient: NSObject, NSCoding {
    private let name: String
    private let grams: Int

    init(_ name: String, grams: Int) {
        self.name = name
        self.grams = grams
    }

    required init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(grams, forKey: "grams")
    }
}
