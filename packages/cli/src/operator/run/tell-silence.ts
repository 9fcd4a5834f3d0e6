/** A person begins to wonder after this time. */
const SILENCE_MS = 1_000

/**
 * Returns an object that does what `target` does, and calls `tell` once if an answer takes longer than `silenceMs`.
 * Methods that give no promise, such as a watch, are left as they are.
 */
export function tellSilence<Target extends object>(
  target: Target,
  tell: () => void,
  silenceMs = SILENCE_MS,
): Target {
  let isTold = false
  const tellOnce = () => {
    if (!isTold) tell()
    isTold = true
  }
  const listen = async (answer: Promise<unknown>): Promise<unknown> => {
    const timer = setTimeout(tellOnce, silenceMs)
    try {
      return await answer
    } finally {
      clearTimeout(timer)
    }
  }
  const wrap = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name)
        if (typeof value === 'object' && value !== null) return wrap(value)
        if (typeof value !== 'function') return value
        return (...given: readonly unknown[]) => {
          const answer: unknown = Reflect.apply(value, of, given)
          return answer instanceof Promise ? listen(answer) : answer
        }
      },
    })
  return wrap(target)
}
