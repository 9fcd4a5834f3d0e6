import fc from 'fast-check'
import { it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { MODEL_STEP_MAX, runAgainstModel } from '../src/model-run.ts'

it('the memory store does what the model does, whatever the steps', async () => {
  const [what, gid, owner, amount] = MODEL_STEP_MAX
  const step = fc.tuple(fc.nat(what), fc.nat(gid), fc.nat(owner), fc.nat(amount))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), (steps) =>
      runAgainstModel(async ({ now }) => memoryStore({ now }), 'model', steps),
    ),
    { numRuns: 300 },
  )
})
