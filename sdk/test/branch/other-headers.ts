/** The headers of a request that is of another class than the global one, as those of ponyfills and of another copy of undici are. */
export class OtherHeaders {
  readonly #headers: Headers

  constructor(init: Readonly<Record<string, string>>) {
    this.#headers = new Headers(init)
  }

  get(name: string): string | null {
    return this.#headers.get(name)
  }

  forEach(callback: (value: string, name: string) => void): void {
    for (const [name, value] of this.#headers) callback(value, name)
  }
}
