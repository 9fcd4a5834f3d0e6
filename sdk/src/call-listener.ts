import { isThenable } from './barrier/thenable.ts'

/**
 * Calls a listener, such as `onError`. One that is an async function is not waited for. If its promise is rejected, that is
 * written to the console, since a rejection that nothing takes would end the process.
 */
export function callListener<Heard extends readonly unknown[]>(
  listener: ((...heard: Heard) => unknown) | undefined,
  ...heard: Heard
): void {
  const returned = listener?.(...heard)
  if (isThenable(returned))
    Promise.resolve(returned).catch((error: unknown) => {
      console.error('A listener of Counterstep was rejected:', error)
    })
}
