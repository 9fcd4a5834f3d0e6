import { join } from 'node:path'
import { MODEL_STEP_MAX, runAgainstModel } from '@counterstep/store-conformance'
import fc from 'fast-check'
import { it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

const folder = await temporaryFolder()

it('The sqlite store does what the model does, whatever the steps', { timeout: 120_000 }, async () => {
  const [what, gid, owner, amount] = MODEL_STEP_MAX
  const step = fc.tuple(fc.nat(what), fc.nat(gid), fc.nat(owner), fc.nat(amount))
  let places = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      places += 1
      const open = ({ now, place }: { now: () => number; place: string }) =>
        openSqliteStore({ path: join(folder, `${place}.db`), now })
      return runAgainstModel(open, `model-${places}`, steps)
    }),
    { numRuns: 60 },
  )
})
