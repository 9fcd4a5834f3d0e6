import { MODEL_STEP_MAX, runAgainstModel } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import fc from 'fast-check'
import { it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'

for (const server of ['postgres'] as const) {
  describeOn(server, 'random steps', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('Random steps give the same results as the model', { timeout: 120_000 }, async () => {
      const [what, gid, owner, amount] = MODEL_STEP_MAX
      const step = fc.tuple(fc.nat(what), fc.nat(gid), fc.nat(owner), fc.nat(amount))
      let places = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
          places += 1
          const open = async ({ place }: { place: string }) =>
            openPostgresStore({ url: (await databases.migrated(place)).url })
          return runAgainstModel(open, `model-${places}`, steps)
        }),
        { numRuns: 30 },
      )
    })
  })
}
