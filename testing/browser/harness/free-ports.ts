import { once } from 'node:events'
import { createServer } from 'node:net'

const ATTEMPTS_MAX = 100
const LOWEST = 20_000
const HIGHEST = 32_000

/** Finds a port that is free together with the two after it, as the demo needs them. */
export async function findThreePorts(): Promise<number> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const first = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    const free = await Promise.all([first, first + 1, first + 2].map(isFree))
    if (free.every(Boolean)) return first
  }
  throw new Error('there are no three free ports in a row')
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  probe.listen(port, '127.0.0.1')
  const isTaken = await Promise.race([
    once(probe, 'listening').then(() => false),
    once(probe, 'error').then(() => true),
  ])
  if (!isTaken) {
    probe.close()
    await once(probe, 'close')
  }
  return !isTaken
}
