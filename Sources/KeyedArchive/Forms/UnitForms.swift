import Foundation

// NSMeasurement:
//
//     NS.value         real
//     NS.unit          NSUnit, or one of its subclasses
//
// NSUnit:
//
//     NS.symbol        text
//
// NSDimension, NSUnitLength, … too:
//
//     NS.converter     NSUnitConverterLinear, …
//     NS.specifier     number of the unit in Apple's tables; not written, ignored when read
//
// NSUnitConverterLinear:
//
//     NS.coefficient   real
//     NS.constant      real
//
// NSUnitConverterReciprocal:
//
//     NS.reciprocal    real

extension Measurement: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSMeasurement.self) {
            archiver.encode(value, forKey: "NS.value")
            archiver.encode(unit, forKey: "NS.unit")
        }
    }
}

extension NSMeasurement: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSMeasurement.self, of: self) {
            archiver.encode(doubleValue, forKey: "NS.value")
            archiver.encode(unit, forKey: "NS.unit")
        }
    }
}

// Units and converters encode themselves, so that a user's subclass keeps the fields that it adds. Foundation's own
// methods write the forms above, and ask for no particular archiver.
extension Unit: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(type(of: self), of: self) { encode(with: archiver) }
    }
}

extension UnitConverter: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        guard let coding = self as? any NSCoding else {
            archiver.record(
                ArchiveError(
                    .unsupportedType,
                    "\(ClassNames.name(of: type(of: self))) cannot be archived: it needs NSCoding"
                )
            )
            return 0
        }
        return archiver.form(type(of: self), of: self) { coding.encode(with: archiver) }
    }
}

extension FoundationForm {
    static let units: [FoundationForm] =
        [
            FoundationForm("NSMeasurement", measurement), FoundationForm("NSUnit", unit),
            FoundationForm("NSUnitConverterLinear", linearConverter),
            FoundationForm("NSUnitConverterReciprocal", reciprocalConverter),
        ] + dimensions

    private static var dimensions: [FoundationForm] {
        [
            dimension("NSDimension") { Dimension.self },
            dimension("NSUnitAcceleration") { UnitAcceleration.self },
            dimension("NSUnitAngle") { UnitAngle.self },
            dimension("NSUnitArea") { UnitArea.self },
            dimension("NSUnitConcentrationMass") { UnitConcentrationMass.self },
            dimension("NSUnitDispersion") { UnitDispersion.self },
            dimension("NSUnitDuration") { UnitDuration.self },
            dimension("NSUnitElectricCharge") { UnitElectricCharge.self },
            dimension("NSUnitElectricCurrent") { UnitElectricCurrent.self },
            dimension("NSUnitElectricPotentialDifference") { UnitElectricPotentialDifference.self },
            dimension("NSUnitElectricResistance") { UnitElectricResistance.self },
            dimension("NSUnitEnergy") { UnitEnergy.self },
            dimension("NSUnitFrequency") { UnitFrequency.self },
            dimension("NSUnitFuelEfficiency") { UnitFuelEfficiency.self },
            dimension("NSUnitIlluminance") { UnitIlluminance.self },
            dimension("NSUnitInformationStorage") { UnitInformationStorage.self },
            dimension("NSUnitLength") { UnitLength.self },
            dimension("NSUnitMass") { UnitMass.self },
            dimension("NSUnitPower") { UnitPower.self },
            dimension("NSUnitPressure") { UnitPressure.self },
            dimension("NSUnitSpeed") { UnitSpeed.self },
            dimension("NSUnitTemperature") { UnitTemperature.self },
            dimension("NSUnitVolume") { UnitVolume.self },
        ]
    }

    // An NSMeasurement, which casts to `Measurement` of every unit type that fits; that casts to no other.
    private static func measurement(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let value = try fields.requiredDouble("NS.value")
        return NSMeasurement(doubleValue: value, unit: try fields.required(Unit.self, "NS.unit"))
    }

    private static func unit(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        Unit(symbol: try fields.required(String.self, "NS.symbol"))
    }

    /// - Parameter type: the class, which the runtime makes at its first use.
    private static func dimension(
        _ className: String,
        _ type: @escaping @Sendable () -> Dimension.Type
    ) -> FoundationForm {
        FoundationForm(className) { fields throws(ArchiveError) in
            let symbol = try fields.required(String.self, "NS.symbol")
            return type().init(symbol: symbol, converter: try fields.required(UnitConverter.self, "NS.converter"))
        }
    }

    private static func linearConverter(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let coefficient = try fields.requiredDouble("NS.coefficient")
        // Any numbers, as a program may make one.
        return UnitConverterLinear(coefficient: coefficient, constant: try fields.double("NS.constant") ?? 0)
    }

    private static func reciprocalConverter(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let reciprocal = try fields.requiredDouble("NS.reciprocal")
        guard reciprocal.isFinite, reciprocal != 0 else { throw fields.malformed("that converts nothing") }
        // The class is not public; it is that of the one dimension that needs it, and decodes itself.
        let known = type(of: UnitFuelEfficiency.milesPerGallon.converter)
        guard let type = known as? any NSCoding.Type,
            let converter = fields.unarchiver.instance(of: CodingClass(type), fields.scope.fields, fields.uid)
        else { throw fields.unknown("that is unknown here") }
        return converter
    }
}
