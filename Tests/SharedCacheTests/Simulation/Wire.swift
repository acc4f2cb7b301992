import RedisWire

/// A connection of a process to a node.
final class Wire {
    let node: ModelEngine
    private unowned let cluster: SimulatedCluster
    private unowned let process: SimulatedProcess
    private var events: EventQueue { cluster.events }
    /// As the process sees it.
    private(set) var isOpen = true
    private var isCut = false
    /// When the process gave it up.
    private var closed: Moment?
    static let shortestConnecting: Moment = 200
    private(set) var clientNumber = 0
    /// Bytes of one direction arrive in their order.
    private var lastUp: Moment = 0
    private var lastDown: Moment = 0
    private var waitingUp: [() -> Void] = []
    private var waitingDown: [() -> Void] = []
    private let received: (RedisValue) -> Void
    private let broke: () -> Void
    private let pace: Pace

    /// - Parameters:
    ///   - received: takes messages that answer no command.
    ///   - broke: is called once the process sees the connection broken by others.
    init(
        from process: SimulatedProcess,
        to node: ModelEngine,
        isChannel: Bool,
        received: @escaping (RedisValue) -> Void,
        broke: @escaping () -> Void
    ) {
        self.process = process
        self.node = node
        self.received = received
        self.broke = broke
        cluster = process.cluster
        pace = Pace(cluster.weather, cluster.events, isChannel: isChannel)
        clientNumber = node.connect { [weak self] value in self?.sendDown(.messages) { $0.received(value) } }
        cluster.add(self)
    }

    /// Sends commands; `answered` is called with their answers, unless the connection breaks.
    func send(_ commands: [RedisCommand], _ answered: @escaping ([RedisValue]) -> Void) {
        sendUp { wire in
            let values = wire.node.execute(commands, by: wire.clientNumber)
            wire.sendDown(.answers) { _ in answered(values) }
            // Messages follow the answers of a turn.
            wire.node.tell()
        }
    }

    private func sendUp(_ body: @escaping (Wire) -> Void) {
        lastUp = max(lastUp, events.now + pace.delay(of: .commands, events, isQuiet: cluster.isQuiet))
        // Held by the events: bytes under way outlive the process.
        events.at(lastUp) { self.arriveUp { body(self) } }
    }

    private func sendDown(_ bytes: Pace.Bytes, _ body: @escaping (Wire) -> Void) {
        lastDown = max(lastDown, events.now + pace.delay(of: bytes, events, isQuiet: cluster.isQuiet))
        events.at(lastDown) { [weak self] in
            guard let self else { return }
            arriveDown { [unowned self] in body(self) }
        }
    }

    private func arriveUp(_ body: @escaping () -> Void) {
        if isCut || isThrownAway || isLate || node.role == .down { return }
        if waitingUp.isEmpty, canPassUp { return body() }
        waitingUp.append(body)
        if waitingUp.count == 1 { retryUp() }
    }

    private func retryUp() {
        // A stopped node finds the bytes of all connections when it goes on, before there are new connections.
        let pause = process.isUnplugged ? events.moment(1_000...5_000) : 0
        events.at(max(cluster.resumption(of: node), events.now + pause)) { [self] in
            if isCut || isThrownAway || node.role == .down {
                waitingUp = []
                return
            }
            while canPassUp, !waitingUp.isEmpty { waitingUp.removeFirst()() }
            if !waitingUp.isEmpty { retryUp() }
        }
    }

    private func arriveDown(_ body: @escaping () -> Void) {
        if !isOpen { return }
        if waitingDown.isEmpty, canPassDown { return body() }
        waitingDown.append(body)
        if waitingDown.count == 1 { retryDown() }
    }

    private func retryDown() {
        events.after(events.moment(1_000...5_000)) { [weak self] in
            guard let self else { return }
            while isOpen, canPassDown, !waitingDown.isEmpty { waitingDown.removeFirst()() }
            if !isOpen { waitingDown = [] }
            if !waitingDown.isEmpty { retryDown() }
        }
    }

    /// Whether the system of a process that has given the connection up throws its bytes away.
    private var isThrownAway: Bool { !isOpen && process.isUnplugged }

    /// Bytes of a dropped connection are not on their way for longer than connecting again takes.
    private var isLate: Bool { closed.map { events.now > $0 + Self.shortestConnecting } ?? false }

    private var canPassUp: Bool { !process.isUnplugged && cluster.isRunning(node) }
    private var canPassDown: Bool { !process.isUnplugged && process.isRunning }

    /// The process ends the connection. The node executes commands that it has got already.
    func close() {
        guard isOpen else { return }
        isOpen = false
        closed = events.now
        if isThrownAway { waitingUp = [] }
        events.after(Self.shortestConnecting) { self.node.disconnect(self.clientNumber) }
    }

    /// The connection breaks: all that is on its way is lost. The process sees it a little later.
    func cut() {
        guard !isCut else { return }
        isCut = true
        node.disconnect(clientNumber)
        guard isOpen else { return }
        process.after(events.moment(0...10_000)) { [weak self] in
            guard let self, isOpen else { return }
            isOpen = false
            broke()
        }
    }
}
