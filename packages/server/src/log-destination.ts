import { fstatSync, write, writeSync } from 'node:fs'

/** Takes the lines that pino writes. */
export interface LogDestination {
  write(line: string): void
}

const RETRY_MS = 100
/** This many characters are buffered at most for a reader that is slow. Later lines are dropped. */
const BUFFERED_CHARACTERS_MAX = 8 * 1024 * 1024

/**
 * Writes lines to a descriptor without waiting for its reader. What is still buffered is written when the process
 * exits. Once the reader is gone (EPIPE), lines are dropped, while pino's own destination would try for ever at the
 * exit.
 */
export function openLogDestination(fd: number): LogDestination {
  let buffered = ''
  let isWriting = false
  let isGone = !isOpen(fd)

  function writeBuffered(): void {
    isWriting = true
    const bytes = Buffer.from(buffered)
    buffered = ''
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
        if (buffered !== '') writeBuffered()
      }
    })
  }

  process.on('exit', () => {
    if (isGone || buffered === '') return
    try {
      writeSync(fd, buffered)
    } catch {
      // The reader is gone or too slow, and misses these lines. An error here would change how the process ends.
    }
  })

  return {
    write(line) {
      if (isGone || buffered.length > BUFFERED_CHARACTERS_MAX) return
      buffered += line
      if (!isWriting) writeBuffered()
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
