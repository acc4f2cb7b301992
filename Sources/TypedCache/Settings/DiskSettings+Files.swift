import ArchiveStore
import Foundation

extension DiskSettings {
    /// When a device lets its programs read a cache's files: Apple's data protection.
    ///
    /// Has an effect on iOS, iPadOS, tvOS and visionOS, and on Macs with Apple silicon, where logging out counts instead of
    /// locking, and ``none`` is not supported. Has no effect on Linux or in simulators.
    public struct DataProtection: Sendable, Hashable {
        enum Class: String, Sendable, CaseIterable {
            case complete, completeUnlessOpen, completeUntilFirstUserAuthentication, none
        }

        /// `nil`: as the system has it.
        let fileClass: Class?

        /// The class of the folder that the cache's directory is made in, or else the app's default class, which is
        /// `.completeUntilFirstUserAuthentication` unless an entitlement says otherwise.
        public static let automatic = DataProtection(fileClass: nil)
        /// While the device is unlocked (`NSFileProtectionComplete`).
        ///
        /// About 10 seconds after it was locked, opening the cache, saves, and fetches that read the disk throw `.io`.
        /// Fetches from memory go on, a fetch with a producer loads and returns its value, and the entries stay.
        public static let complete = DataProtection(fileClass: .complete)
        /// While the device is unlocked, and longer if the file is open (`NSFileProtectionCompleteUnlessOpen`).
        ///
        /// A cache opens files as it needs them, so on a locked device calls may throw `.io` as with ``complete``.
        public static let completeUnlessOpen = DataProtection(fileClass: .completeUnlessOpen)
        /// From the first time that the device is unlocked after it has started
        /// (`NSFileProtectionCompleteUntilFirstUserAuthentication`).
        ///
        /// For caches that an app uses in the background.
        public static let completeUntilFirstUserAuthentication = DataProtection(
            fileClass: .completeUntilFirstUserAuthentication
        )
        /// Always (`NSFileProtectionNone`).
        public static let none = DataProtection(fileClass: Class.none)
    }
}

/// The calls to the system for attributes of files that only Apple's systems have.
protocol FileAttributeCalls: Sendable {
    /// The paths of everything in a directory, at every depth, relative to it.
    func contents(of directory: String) throws -> [String]
    /// `nil` if the system does not tell.
    func fileClass(of path: String) throws -> DiskSettings.DataProtection.Class?
    func setFileClass(_ fileClass: DiskSettings.DataProtection.Class, of path: String) throws
    func isExcludedFromBackup(_ directory: String) throws -> Bool
    func excludeFromBackup(_ directory: String) throws
}

extension DiskSettings {
    /// Gives a store's directory the attributes that are asked for; `nil` if none are.
    ///
    /// Runs each time the store opens its directory, before the first entry is written there. New files have the class of
    /// their directory.
    func preparing(by calls: some FileAttributeCalls) -> (@Sendable (String) throws(StoreError) -> Void)? {
        let (fileClass, isExcluded) = (dataProtection.fileClass, isExcludedFromBackup)
        if fileClass == nil, !isExcluded { return nil }
        return { directory throws(StoreError) in
            if let fileClass {
                try Self.setting("dataProtection", of: directory) { try calls.protect(directory, as: fileClass) }
            }
            if isExcluded {
                try Self.setting("isExcludedFromBackup", of: directory) {
                    if try !calls.isExcludedFromBackup(directory) { try calls.excludeFromBackup(directory) }
                }
            }
        }
    }

    private static func setting(
        _ name: String,
        of directory: String,
        _ body: () throws -> Void
    ) throws(StoreError) {
        do {
            try body()
        } catch {
            throw StoreError(
                .io,
                path: directory,
                action: "setting \(name) of a cache's files",
                reason: "\(error.localizedDescription) Open the cache while the device is unlocked, on a volume"
                    + " that has this attribute, or leave DiskSettings.\(name) at its default",
                // The store opens a directory again that was removed in the middle of this.
                errorNumber: (error as? CocoaError)?.isMissingFile == true ? ENOENT : nil
            )
        }
    }
}

extension FileAttributeCalls {
    /// Sets the class of a directory and of everything in it, unless the directory has it.
    ///
    /// The directory comes last, so that an interrupted change is done again; then once more the files that were made in it
    /// before that.
    fileprivate func protect(_ directory: String, as fileClass: DiskSettings.DataProtection.Class) throws {
        if try self.fileClass(of: directory) == fileClass { return }
        try protectContents(of: directory, as: fileClass)
        try setFileClass(fileClass, of: directory)
        try protectContents(of: directory, as: fileClass)
    }

    private func protectContents(of directory: String, as fileClass: DiskSettings.DataProtection.Class) throws {
        for name in try contents(of: directory) {
            do {
                try setFileClass(fileClass, of: directory + "/" + name)
            } catch let error as CocoaError where error.isMissingFile {
                // Drafts come and go.
            }
        }
    }
}

#if canImport(Darwin)
    struct SystemFileAttributes: FileAttributeCalls {
        private var files: FileManager { .default }

        func contents(of directory: String) throws -> [String] { try files.subpathsOfDirectory(atPath: directory) }

        func fileClass(of path: String) throws -> DiskSettings.DataProtection.Class? {
            let type = try files.attributesOfItem(atPath: path)[.protectionKey] as? FileProtectionType
            return DiskSettings.DataProtection.Class.allCases.first { $0.type == type }
        }

        func setFileClass(_ fileClass: DiskSettings.DataProtection.Class, of path: String) throws {
            try files.setAttributes([.protectionKey: fileClass.type], ofItemAtPath: path)
        }

        func isExcludedFromBackup(_ directory: String) throws -> Bool {
            let url = URL(fileURLWithPath: directory, isDirectory: true)
            return try url.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup == true
        }

        func excludeFromBackup(_ directory: String) throws {
            var url = URL(fileURLWithPath: directory, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        }
    }

    extension DiskSettings.DataProtection.Class {
        fileprivate var type: FileProtectionType {
            switch self {
            case .complete: .complete
            case .completeUnlessOpen: .completeUnlessOpen
            case .completeUntilFirstUserAuthentication: .completeUntilFirstUserAuthentication
            case .none: .none
            }
        }
    }
#endif
