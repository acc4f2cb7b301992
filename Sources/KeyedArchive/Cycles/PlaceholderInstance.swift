#if !canImport(Darwin)
    import CInstance
    import Foundation

    /// An object that is referred to before its `init(coder:)` has returned.
    ///
    /// Swift allocates inside an initializer, so an object that is still being decoded cannot be handed to its own
    /// parts. In its place they get an instance of the same class, which this file allocates with empty stored
    /// properties; when the initializer returns, the properties of its result are moved over.
    ///
    /// Why this is sound:
    /// - The placeholder is whole from the start: each stored property holds a valid value of its type (see
    ///   `PlaceholderLayout`), so another `init(coder:)` that reads it finds empty values, never garbage. All of these
    ///   values are bits without an owner: overwriting them releases nothing.
    /// - The result has no other owner when it is moved: it is of exactly the same class, and its word of reference
    ///   counts is that of a new object, so there is no other strong, unowned or weak reference to it.
    /// - Swift's stored properties may be moved bit by bit where there is no Objective-C: none depends on its own
    ///   address. The emptied result is freed without its deinitializer.
    /// - If the placeholder was changed in the meantime, the move would lose the change; then, and in all other
    ///   cases that this cannot serve, there is an error and nothing is moved.
    package struct PlaceholderInstance {
        /// The instance that the parts of the object refer to, and that becomes the object.
        package let object: AnyObject
        private let layout: PlaceholderLayout
        private let newCounts: UInt64

        /// - Throws: `.cyclicReference` if the class has a stored property without an empty value.
        package init(of cls: AnyClass) throws(ArchiveError) {
            layout = try PlaceholderLayout.of(cls)
            guard let instance = instance_allocate(layout.metadata) else {
                throw ArchiveError(.limitExceeded, "no memory for an object")
            }
            newCounts = instance_counts(instance)
            // Everything after the header, which `PlaceholderLayout` has as many bytes of as the class's instances have.
            layout.properties.withUnsafeBytes { empty in
                UnsafeMutableRawBufferPointer(start: instance + PlaceholderLayout.headerSize, count: empty.count)
                    .copyMemory(from: empty)
            }
            object = Unmanaged<AnyObject>.fromOpaque(instance).takeRetainedValue()
        }

        /// Moves the stored properties of the object that `init(coder:)` returned into the placeholder.
        ///
        /// - Parameters:
        ///   - result: the initializer's result, of which the caller holds the one and only reference; then the
        ///     placeholder.
        ///   - isTrial: whether everything is checked and nothing moved.
        /// - Throws: `.cyclicReference` if that cannot be done without losing something; nothing was moved then.
        package func complete(from result: inout Any?, isTrial: Bool) throws(ArchiveError) {
            try check(result)
            guard let temporary = Self.taken(&result) else { return }
            let instance = Unmanaged.passUnretained(object).toOpaque()
            let isUnshared = instance_counts(temporary) == newCounts
            let isUnchanged = layout.properties.withUnsafeBytes { empty in
                empty.elementsEqual(
                    UnsafeRawBufferPointer(start: instance + PlaceholderLayout.headerSize, count: empty.count)
                )
            }
            guard isUnshared, isUnchanged else {
                Unmanaged<AnyObject>.fromOpaque(temporary).release()
                throw ArchiveError(
                    .cyclicReference,
                    isUnshared
                        ? "a part of \(layout.name) changed it before its init(coder:) had returned"
                        : "\(layout.name) hands itself out in its init(coder:), and its parts refer to it"
                )
            }
            if isTrial {
                result = Unmanaged<AnyObject>.fromOpaque(temporary).takeRetainedValue()
                return
            }
            (instance + PlaceholderLayout.headerSize).copyMemory(
                from: temporary + PlaceholderLayout.headerSize,
                byteCount: layout.properties.count
            )
            instance_discard(temporary, layout.metadata)
            result = object
        }

        private func check(_ result: Any?) throws(ArchiveError) {
            if let result, type(of: result) as? AnyClass == type(of: object) { return }
            throw ArchiveError(
                .cyclicReference,
                "the init(coder:) of \(layout.name) refused or returned an object of another class, and its parts refer to it"
            )
        }

        /// Takes the object out of `value`, as a raw pointer that owns one reference.
        ///
        /// A function of its own, so that all references that it holds in the meantime are released when it returns.
        @inline(never)
        private static func taken(_ value: inout Any?) -> UnsafeMutableRawPointer? {
            guard let object = value.map({ $0 as AnyObject }) else { return nil }
            value = nil
            return Unmanaged.passRetained(object).toOpaque()
        }
    }
#endif
