/** A fault that waits for its request. */
export interface ProxyFault {
  /** How often it has bitten. A test that expects it asserts this. */
  bites(): number
  /** Resolves at the first bite. */
  readonly bitten: Promise<void>
  /** It takes no further request. */
  cancel(): void
}

/** What is lost: the request, which the server then never sees, or only the answer to it. */
export type LostPart = 'request' | 'answer'

/** A fault that has found its request. */
export interface TakenFault {
  readonly loses: LostPart
  /** To be called when it happens: an answer is lost only once there is one. */
  bite(): void
}

/** The faults of one proxy that wait for their request. */
export class ProxyFaults {
  readonly #armed = new Set<ArmedFault>()

  arm(loses: LostPart, matches: (chunk: Buffer) => boolean, times: number): ProxyFault {
    const fault = new ArmedFault(loses, matches, times)
    this.#armed.add(fault)
    return {
      bites: () => fault.bites,
      bitten: fault.bitten,
      cancel: () => void this.#armed.delete(fault),
    }
  }

  /** The first fault that wants these bytes of a client. */
  take(chunk: Buffer): TakenFault | undefined {
    for (const fault of this.#armed) {
      if (!fault.matches(chunk)) continue
      fault.timesLeft -= 1
      if (fault.timesLeft <= 0) this.#armed.delete(fault)
      return fault
    }
    return undefined
  }
}

class ArmedFault implements TakenFault {
  readonly loses: LostPart
  readonly matches: (chunk: Buffer) => boolean
  readonly bitten: Promise<void>
  timesLeft: number
  bites = 0
  #tellBitten: () => void = () => undefined

  constructor(loses: LostPart, matches: (chunk: Buffer) => boolean, times: number) {
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
