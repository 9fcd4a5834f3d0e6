export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
}

/** A promise that is resolved from outside. The language has this only where its library is newer than ours. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (value) => resolve(value) }
}
