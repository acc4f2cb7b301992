import CacheCommand

CommandLineTool.runProcess()
