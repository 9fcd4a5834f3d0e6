export interface Progress {
  show(text: string): void
  clear(): void
}

const CLEAR_LINE = '\r\u001b[2K'
/** Lines that cannot be written over are printed rarely. */
const BETWEEN_LINES_MS = 3_000

/** One line that is written over, on a terminal; elsewhere a line now and then. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return linesOn(stream)
  return {
    show: (text) => stream.write(`${CLEAR_LINE}${text}`),
    clear: () => stream.write(CLEAR_LINE),
  }
}

function linesOn(stream: NodeJS.WriteStream): Progress {
  let nextAt = 0
  return {
    show: (text) => {
      const now = performance.now()
      if (now < nextAt) return
      nextAt = now + BETWEEN_LINES_MS
      stream.write(`${text}\n`)
    },
    clear: () => undefined,
  }
}
