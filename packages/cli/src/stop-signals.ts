export type StopSignal = 'SIGINT' | 'SIGTERM'

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }

interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown
}

/** The first signal asks for a graceful stop; a second one, of either kind, means now. */
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
