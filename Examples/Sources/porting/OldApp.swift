import Foundation

/// The former app, which kept each recipe in a file that Foundation's archiver wrote.
enum OldApp {
    /// Writes the files that it would have left behind: two recipes, something else, and a damaged one.
    static func leaveFiles(in folder: URL) throws {
        func write(_ object: Any, _ name: String) throws {
            let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
            try data.write(to: folder.appending(path: name))
        }
        let flour = OldIngredient("flour", grams: 250)
        try write(OldRecipe("Pancakes", [flour, OldIngredient("milk", grams: 500)]), "pancakes.archive")
        try write(OldRecipe("Bread", [flour, OldIngredient("water", grams: 180)]), "bread.archive")
        try write(flour, "flour.archive")
        try Data("bplist00, and then nothing".utf8).write(to: folder.appending(path: "damaged.archive"))
    }
}
