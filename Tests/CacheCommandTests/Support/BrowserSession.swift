import Foundation
import TestSupport
import Testing

/// Headless Chromium with one page, driven by the DevTools protocol over a pipe: JSON messages with a NUL after each.
final class BrowserSession {
    /// A message that answers no call.
    struct Event {
        let name: String
        let parameters: [String: Any]
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    enum ColorScheme: String {
        case light
        case dark
    }

    /// Chromium or a relative of it; `nil` if there is none. `Scripts/test --all` installs it.
    static let executable: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        var paths = ["chromium", "chromium-browser", "google-chrome"].flatMap { name in
            folders.map { "\($0)/\(name)" }
        }
        paths.append("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }
    }()

    /// The events since the page was last opened.
    private(set) var events: [Event] = []

    private let process = Process()
    private let input = Pipe.make()
    private let output = Pipe.make()
    private var received: [UInt8] = []
    private var lastCall = 0
    private var session: String?

    /// - Parameter folder: keeps the browser's profile.
    init(in folder: URL) throws {
        signal(SIGPIPE, SIG_IGN)
        let executable = try #require(Self.executable)
        var options = [
            "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-background-networking",
            "--no-first-run", "--user-data-dir=\(folder.appending(path: "browser").path)",
        ]
        // The sandbox cannot be set up as root.
        if geteuid() == 0 { options.append("--no-sandbox") }
        process.executableURL = URL(filePath: "/bin/bash")
        // The protocol reads descriptor 3 and writes descriptor 4.
        let script = #"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#
        process.arguments = ["-c", script, executable.path] + options
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        let page = try call("Target.createTarget", ["url": "about:blank"])
        let target = try #require(page["targetId"])
        session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
        for part in ["Page", "Network", "Log", "Runtime"] { try call("\(part).enable") }
    }

    /// Ends the browser, which removes no file of its profile then any longer.
    func close() throws {
        try call("Browser.close")
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Opens a page in a window of a size, and waits until it is loaded. A narrow window is that of a phone.
    func open(_ page: URL, width: Int, height: Int = 844, in scheme: ColorScheme) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600]
        )
        let feature = ["name": "prefers-color-scheme", "value": scheme.rawValue]
        try call("Emulation.setEmulatedMedia", ["features": [feature]])
        events = []
        try call("Page.navigate", ["url": page.absoluteString])
        while !events.contains(where: { $0.name == "Page.loadEventFired" }) { _ = try receive() }
    }

    /// The value of an expression of JavaScript, of the kinds that JSON has.
    func evaluate(_ expression: String) throws -> Any? {
        let answer = try call(
            "Runtime.evaluate",
            ["expression": expression, "returnByValue": true, "awaitPromise": true]
        )
        if let details = answer["exceptionDetails"] { throw Failure(description: "\(details)") }
        return (answer["result"] as? [String: Any])?["value"]
    }

    /// The picture of the whole page, as PNG.
    func picture() throws -> Data {
        let answer = try call("Page.captureScreenshot", ["captureBeyondViewport": true])
        return try #require((answer["data"] as? String).flatMap { Data(base64Encoded: $0) })
    }

    // MARK: Protocol

    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        lastCall += 1
        var message: [String: Any] = ["id": lastCall, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let bytes = try JSONSerialization.data(withJSONObject: message)
        try input.fileHandleForWriting.write(contentsOf: bytes + [0])
        while true {
            guard let answer = try receive(), answer["id"] as? Int == lastCall else { continue }
            if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    /// The next message if it is an answer; `nil` if it was an event, which is kept.
    private func receive() throws -> [String: Any]? {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = Data(received[..<end])
                received.removeFirst(end + 1)
                let fields = try #require(JSONSerialization.jsonObject(with: message) as? [String: Any])
                guard let name = fields["method"] as? String else { return fields }
                events.append(Event(name: name, parameters: fields["params"] as? [String: Any] ?? [:]))
                return nil
            }
            var waiting = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 60_000) > 0 else { throw Failure(description: "The browser is silent.") }
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { throw Failure(description: "The browser has ended.") }
            received += bytes
        }
    }
}
