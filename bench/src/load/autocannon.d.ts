// The part of autocannon 9 that the bench uses; it has no types of its own.
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  namespace autocannon {
    /** One connection. `responseMax` and `reqsMade` are read by its client before each request. */
    interface Client extends EventEmitter {
      responseMax: number | undefined
      readonly reqsMade: number
      /** Sets the body of the next request and of those after it. */
      setBody(body: string): void
    }

    interface Options {
      readonly url: string | string[]
      readonly method: 'POST'
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      readonly connections: number
      /** Seconds; without an `amount` only. */
      readonly duration?: number
      /** The number of answers after which the run ends. */
      readonly amount?: number
      readonly timeout: number
      readonly sampleInt: number
      readonly verifyBody: (body: string) => boolean
      readonly setupClient: (client: Client) => void
    }
  }

  function autocannon(options: autocannon.Options): PromiseLike<unknown>
  export = autocannon
}
