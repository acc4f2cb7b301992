import CacheCommand

let tool = CommandLineTool(.process(backend: UnwiredBackend()))
tool.run(Array(CommandLine.arguments.dropFirst())).endProcess()
