import type { Store } from '@counterstep/core'
import fc from 'fast-check'
import { it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { MODEL_STEP_MAX, runAgainstModel } from '../src/model-run.ts'
import { serverLikeStore } from './server-like-store.ts'

async function agreesWithModel(open: (now: () => number) => Store, numRuns: number): Promise<void> {
  const [what, gid, owner, amount] = MODEL_STEP_MAX
  const step = fc.tuple(fc.nat(what), fc.nat(gid), fc.nat(owner), fc.nat(amount))
  const steps = fc.array(step, { maxLength: 60, size: 'max' })
  const run = fc.asyncProperty(steps, (tried) =>
    runAgainstModel(async ({ now }) => open(now), 'model', tried),
  )
  await fc.assert(run, { numRuns })
}

it('The memory store does what the model does, whatever the steps', () =>
  agreesWithModel((now) => memoryStore({ now }), 300))

// There are fewer runs, since time passes by itself here.
it('A store with its own clock, versions that jump and rows that expire does what the model does', () =>
  agreesWithModel(serverLikeStore, 20))
