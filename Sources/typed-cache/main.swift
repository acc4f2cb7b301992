import CacheCommand

let tool = CommandLineTool(.process(backend: TypedCacheBackend()))
tool.run(Array(CommandLine.arguments.dropFirst())).endProcess()
