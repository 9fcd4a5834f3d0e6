export type StopSignal = 'SIGINT' | 'SIGTERM'

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }

interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown
}

/** Stops gracefully at the first signal. A second one, of either kind, ends the process at once. */
export function onStopSignals(
  source: SignalSource,
  stop: (signal: StopSignal) => void,
  exit: (code: number) => void,
): void {
  let asked = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    source.on(signal, () => {
      if (asked) exit(EXIT_CODES[signal])
      else stop(signal)
      asked = true
    })
  }
}
