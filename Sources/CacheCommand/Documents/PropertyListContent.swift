import KeyedArchive

/// The contents of any document as one value: references to objects of an archive are numbers here.
typealias PropertyListContent = PropertyListValue<Int>
