export type StopSignal = 'SIGINT' | 'SIGTERM'

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }

interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown
}

/**
 * Stops gracefully at the first signal. A second one, of either kind, ends the process at once. Returns a function by which a
 * host asks for the same stop, for a reason of its own; it does nothing once the stop has begun, and is no signal.
 */
export function onStopSignals(
  source: SignalSource,
  stop: (reason: string) => void,
  exit: (code: number) => void,
): (reason: string) => void {
  let isStopping = false
  let hasSignal = false
  const ask = (reason: string) => {
    if (!isStopping) stop(reason)
    isStopping = true
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    source.on(signal, () => {
      if (hasSignal) exit(EXIT_CODES[signal])
      else ask(signal)
      hasSignal = true
    })
  }
  return ask
}
