import { isThenable } from './barrier/thenable.ts'

/**
 * Calls a listener, such as `onError`, and resolves when it has ended, which need not be waited for. If it is an async
 * function and its promise is rejected, that is written to the console, since a rejection that nothing takes would end the
 * process. An error that it throws is thrown.
 */
export function callListener<Heard extends readonly unknown[]>(
  listener: ((...heard: Heard) => unknown) | undefined,
  ...heard: Heard
): Promise<void> {
  const returned = listener?.(...heard)
  if (!isThenable(returned)) return Promise.resolve()
  return Promise.resolve(returned).then(
    () => undefined,
    (error: unknown) => {
      console.error('A listener of Counterstep was rejected:', error)
    },
  )
}
