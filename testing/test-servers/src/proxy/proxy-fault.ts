/** A fault that waits for its request. */
export interface ProxyFault {
  /** Returns how often the fault has happened. A test that expects it asserts this. */
  bites(): number
  /** Resolves when the fault happens for the first time. */
  readonly bitten: Promise<void>
  /** Stops the fault, so that it takes no further request. */
  cancel(): void
}

/**
 * Tells whether these bytes of a client, which came in one read, are the awaited request. A trigger that has to know what
 * came before finds it by the `connection`, which is one object for each connection.
 */
export type RequestTrigger = (chunk: Buffer, connection: object) => boolean

/**
 * The lost part is the request, which the server then never gets, or only its answer, or the connection of the client while
 * there may be no answer yet.
 */
export type LostPart = 'request' | 'answer' | 'connection'

/** A fault that has found its request. */
export interface TakenFault {
  readonly loses: LostPart
  /** Is called when the fault happens. An answer is lost only once there is one. */
  bite(): void
}

/** The faults of one proxy that wait for their request. */
export class ProxyFaults {
  readonly #armed = new Set<ArmedFault>()

  arm(loses: LostPart, matches: RequestTrigger, times: number): ProxyFault {
    const fault = new ArmedFault(loses, matches, times)
    this.#armed.add(fault)
    return {
      bites: () => fault.bites,
      bitten: fault.bitten,
      cancel: () => void this.#armed.delete(fault),
    }
  }

  /** Takes the first fault that matches these bytes of a client. */
  take(chunk: Buffer, connection: object): TakenFault | undefined {
    for (const fault of this.#armed) {
      if (!fault.matches(chunk, connection)) continue
      fault.timesLeft -= 1
      if (fault.timesLeft <= 0) this.#armed.delete(fault)
      return fault
    }
    return undefined
  }
}

class ArmedFault implements TakenFault {
  readonly loses: LostPart
  readonly matches: RequestTrigger
  readonly bitten: Promise<void>
  timesLeft: number
  bites = 0
  #tellBitten: () => void = () => undefined

  constructor(loses: LostPart, matches: RequestTrigger, times: number) {
    this.loses = loses
    this.matches = matches
    this.timesLeft = times
    this.bitten = new Promise((resolve) => {
      this.#tellBitten = resolve
    })
  }

  bite(): void {
    this.bites += 1
    this.#tellBitten()
  }
}
