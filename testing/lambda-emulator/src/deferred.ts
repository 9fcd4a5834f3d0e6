export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
}

/** Creates a promise that is resolved from outside. `Promise.withResolvers` is not in the library that we compile for. */
export function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (value) => resolve(value) }
}
