import Foundation

final class SubFamily: Family {
    let species: String
    let genus: String

    init(species: String, genus: String, family: String, order: String) {
        self.species = species
        self.genus = genus
        super.init(family: family, order: order)
    }

    required init?(coder: NSCoder) {
        guard let species = coder.decodeObject(forKey: "species") as? String,
            let genus = coder.decodeObject(forKey: "genus") as? String
        else { return nil }
        self.species = species
        self.genus = genus
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(species, forKey: "species")
        coder.encode(genus, forKey: "genus")
    }

    override var description: String {
        "Species:\(species) Genus:\(genus),Family:\(family),Order:\(order)"
    }
}
