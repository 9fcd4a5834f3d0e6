import { fstatSync, write, writeSync } from 'node:fs'

/** Where pino writes to. */
export interface LogDestination {
  write(line: string): void
}

const RETRY_MS = 100
/** A reader that reads nothing makes us keep this many characters at most. Later lines are dropped. */
const HELD_CHARACTERS_MAX = 8 * 1024 * 1024

/**
 * Writes lines to a descriptor without waiting for its reader, and what is left when the process exits then. Once the
 * reader is gone (EPIPE) lines are dropped: pino's own destination tries again at the exit for ever.
 */
export function openLogDestination(fd: number): LogDestination {
  let held = ''
  let isWriting = false
  let isGone = !isOpen(fd)

  function writeHeld(): void {
    isWriting = true
    const bytes = Buffer.from(held)
    held = ''
    writeBytes(bytes)
  }

  function writeBytes(bytes: Buffer): void {
    write(fd, bytes, (error, written) => {
      if (error !== null) {
        if (isBusy(error)) setTimeout(() => writeBytes(bytes), RETRY_MS)
        else isGone = true
      } else if (written < bytes.length) {
        writeBytes(bytes.subarray(written))
      } else {
        isWriting = false
        if (held !== '') writeHeld()
      }
    })
  }

  process.on('exit', () => {
    if (isGone || held === '') return
    try {
      writeSync(fd, held)
    } catch {
      // A reader that is gone, or that has not read for long, misses these lines.
    }
  })

  return {
    write(line) {
      if (isGone || held.length > HELD_CHARACTERS_MAX) return
      held += line
      if (!isWriting) writeHeld()
    },
  }
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY'
}
