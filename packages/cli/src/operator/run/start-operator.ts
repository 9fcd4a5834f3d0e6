import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { OperatorLine } from '../line/operator-line.ts'
import { cleanText } from '../print/clean-text.ts'
import { openTerminal } from './open-terminal.ts'
import { runOperator } from './run-operator.ts'

const WIDTH_DEFAULT = 120
const WIDTH_MIN = 60
const WIDTH_MAX = 200

/** Runs a command of an operator as this process. */
export async function startOperator(line: OperatorLine): Promise<void> {
  // A person who ends the question by Ctrl-C or Ctrl-D has agreed to nothing, and this process then ends here.
  process.exitCode = 1
  const stopping = new AbortController()
  let isOutputLost = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    stopping.abort()
    // If the reader of our output has gone, such as `head`, there is nothing left to do.
    if (code === 'EPIPE') return
    isOutputLost = true
    process.exitCode = 1
    process.stderr.write(`counterstep: the output cannot be written: ${message}\n`)
  })
  const write = (stream: NodeJS.WriteStream) => (lines: string) => {
    stream.write(`${cleanText(lines)}\n`)
  }
  const exitCode = await runOperator({
    line,
    print: write(process.stdout),
    say: write(process.stderr),
    openTerminal,
    readFile: (path) => (path === '-' ? text(process.stdin) : readFile(path, 'utf8')),
    width: Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, process.stdout.columns ?? WIDTH_DEFAULT)),
    signal: stopping.signal,
  })
  process.exitCode = isOutputLost ? 1 : exitCode
}
