import { createReadStream, openSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import type { Terminal } from './operator-context.ts'

const CONTROLLING_TERMINAL = '/dev/tty'

/**
 * Opens the terminal at which a person can be asked. If the standard input is a pipe, such as one with gids, it is the
 * terminal that the process belongs to. Returns undefined where there is none, or where the question would not be seen.
 */
export function openTerminal(): Terminal | undefined {
  if (!process.stderr.isTTY) return undefined
  const input = process.stdin.isTTY ? process.stdin : openControllingTerminal()
  if (input === undefined) return undefined
  // It reads from now on, so a line that was typed before the question answers nothing.
  const reader = createInterface({ input, output: process.stderr })
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')))
  return {
    // Ctrl-C and Ctrl-D close the reader, and so does a terminal that goes away: each is no answer.
    ask: (question) => Promise.race([closed, reader.question(question)]),
    close: () => {
      reader.close()
      input.destroy()
    },
  }
}

function openControllingTerminal() {
  try {
    return createReadStream(CONTROLLING_TERMINAL, { fd: openSync(CONTROLLING_TERMINAL, 'r') })
  } catch (error: unknown) {
    // A process of a service or of a build has none.
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
