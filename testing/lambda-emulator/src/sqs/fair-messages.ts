import type { Message } from '@aws-sdk/client-sqs'

/** AWS says that a group is noisy from about these shares on. */
const NOISY_SHARE = 0.1
const NOISY_IN_FLIGHT_MIN = 30

interface Group {
  inFlight: number
  busyMs: number
}

/**
 * Hands messages out as a fair queue of AWS does: those of quiet groups before those of groups that keep the consumers busy,
 * by their share of the messages in flight or of the time that was spent. A message without a group is one of its own.
 */
export class FairMessages {
  readonly #waiting: Message[] = []
  readonly #groups = new Map<string, Group>()

  get waiting(): number {
    return this.#waiting.length
  }

  add(messages: readonly Message[]): void {
    this.#waiting.push(...messages)
  }

  take(countMax: number): readonly Message[] {
    const taken: Message[] = []
    while (taken.length < countMax && this.#waiting.length > 0) {
      const [message] = this.#waiting.splice(this.#findNext(), 1)
      if (message === undefined) break
      this.#getGroup(message).inFlight++
      taken.push(message)
    }
    return taken
  }

  /** The messages were deleted, or are left until they are visible again. */
  end(messages: readonly Message[], tookMs: number): void {
    for (const message of messages) {
      const group = this.#getGroup(message)
      group.inFlight--
      group.busyMs += tookMs / messages.length
    }
    const names = new Set(this.#waiting.map(readGroup))
    for (const [name, { inFlight }] of this.#groups)
      if (inFlight <= 0 && !names.has(name)) this.#groups.delete(name)
  }

  #findNext(): number {
    const quiet = this.#waiting.findIndex((message) => !this.#isNoisy(this.#getGroup(message)))
    if (quiet !== -1) return quiet
    let next = 0
    for (const [position, message] of this.#waiting.entries())
      if (this.#countInFlight(message) < this.#countInFlight(this.#waiting[next] ?? message)) next = position
    return next
  }

  #isNoisy({ inFlight, busyMs }: Group): boolean {
    const groups = [...this.#groups.values()]
    const allInFlight = groups.reduce((sum, group) => sum + group.inFlight, 0)
    const allBusyMs = groups.reduce((sum, group) => sum + group.busyMs, 0)
    const isMany = inFlight >= NOISY_IN_FLIGHT_MIN && inFlight > allInFlight * NOISY_SHARE
    return isMany || busyMs > allBusyMs * NOISY_SHARE
  }

  #countInFlight(message: Message): number {
    return this.#groups.get(readGroup(message))?.inFlight ?? 0
  }

  #getGroup(message: Message): Group {
    const name = readGroup(message)
    const group = this.#groups.get(name) ?? { inFlight: 0, busyMs: 0 }
    this.#groups.set(name, group)
    return group
  }
}

function readGroup({ Attributes, MessageId = '' }: Message): string {
  return Attributes?.MessageGroupId ?? `message ${MessageId}`
}
