import Foundation
import KeyedArchive
import TypedCache

let folder = FileManager.default.temporaryDirectory.appending(path: "porting-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
try OldApp.leaveFiles(in: folder)

let recipes = try Cache<Recipe>(name: "recipes")

// Each file becomes an entry under its name; files that hold no recipe are told, and left alone.
for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
    let data = try Data(contentsOf: folder.appending(path: name))
    do {
        let recipe = try KeyedUnarchiver.unarchivedObject(
            ofClass: Recipe.self,
            allowing: Recipe.allowedClasses,
            from: data
        )
        guard let recipe else { continue }
        try recipes.save(recipe, forKey: String(name.dropLast(".archive".count)))
        print("\(name): saved")
    } catch let error as ArchiveError {
        print("\(name): \(error.code)")
    }
}

if let pancakes = try recipes.fetch(forKey: "pancakes") {
    let list = pancakes.ingredients.map { "\($0.name) \($0.grams) g" }.joined(separator: ", ")
    print("\(pancakes.title) for \(pancakes.servings): \(list)")
}
try FileManager.default.removeItem(at: folder)
