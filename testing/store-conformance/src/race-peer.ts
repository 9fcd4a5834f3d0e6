// This is a process of its own in a race. It opens the store, prepares calls, and makes them all at once when it gets a message.

import type { Store } from '@counterstep/core'
import { openStoreAt } from './open-store-at.ts'
import type { FromPeer, RaceAnswer, RaceCall, RaceResult, ToPeer } from './race-messages.ts'

let store: Store | undefined
let prepared: Extract<ToPeer, { type: 'prepare' }> | undefined

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function getStore(): Store {
  if (store === undefined) throw new Error('the peer has not opened a store')
  return store
}

function send(call: RaceCall): Promise<RaceResult> {
  const store = getStore()
  switch (call.verb) {
    case 'create':
      return store.create(call.argument)
    case 'update':
      return store.update(call.argument)
    case 'claim':
      return store.claim(call.argument)
    case 'claimDue':
      return store.claimDue(call.argument)
    case 'postponeDue':
      return store.postponeDue(call.argument)
    case 'renew':
      return store.renew(...call.argument)
    case 'purgeFinished':
      return store.purgeFinished(call.argument)
    case 'stats':
      return store.stats()
  }
}

async function runTimed(call: RaceCall): Promise<RaceAnswer> {
  const startedAt = monotonicMs()
  try {
    const result = await send(call)
    return { startedAt, endedAt: monotonicMs(), result }
  } catch (error: unknown) {
    return { startedAt, endedAt: monotonicMs(), error: describeError(error) }
  }
}

async function runPrepared(): Promise<readonly RaceAnswer[]> {
  if (prepared === undefined) throw new Error('the peer has nothing prepared')
  const { calls, inFlightMax } = prepared
  const answers: RaceAnswer[] = []
  const left = calls.entries()
  const makeNext = async (): Promise<void> => {
    for (const [i, call] of left) answers[i] = await runTimed(call)
  }
  await Promise.all(Array.from({ length: Math.min(inFlightMax, calls.length) }, makeNext))
  return answers
}

async function handle(message: ToPeer): Promise<FromPeer> {
  switch (message.type) {
    case 'open':
      skewClock(message.skewMs)
      store = await openStoreAt(message.place)
      // The connections are open before the first race.
      await store.stats()
      return { type: 'opened' }
    case 'prepare':
      prepared = message
      return { type: 'prepared' }
    case 'go':
      return { type: 'answers', answers: await runPrepared() }
    case 'close':
      await getStore().close()
      return { type: 'closed' }
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function answer(reply: FromPeer): void {
  process.send?.(reply)
}

/** Sets the clock of this process wrong, for everything that is loaded afterwards. */
function skewClock(byMs: number): void {
  if (byMs === 0) return
  const skewed = new Proxy(Date, {
    construct: (target, parts) =>
      Reflect.construct(target, parts.length === 0 ? [target.now() + byMs] : parts),
    get: (target, name) => (name === 'now' ? () => target.now() + byMs : Reflect.get(target, name)),
  })
  Object.defineProperty(globalThis, 'Date', { value: skewed })
}

process.on('message', (message: ToPeer) => {
  handle(message).then(answer, (error: unknown) => answer({ type: 'failed', error: describeError(error) }))
})
// The suite has ended, so no more messages will come.
process.on('disconnect', () => process.exit())
