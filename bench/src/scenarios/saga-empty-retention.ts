import { until } from '@counterstep/test-servers/until'
import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { measure, toRow } from '../rounds.ts'
import type { Scenario } from '../scenario.ts'
import { toSpread } from '../spread.ts'
import { keyCount, type OwnRedis, openOwnRedis, usedMemoryBytes } from '../stores/open-own-redis.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { requireRedis } from './saga-empty/require-redis.ts'
import { emptyNote, takesEmptyUrls } from './saga-empty/takes-empty-urls.ts'
import { openSagaFixture, sagaPlan } from './saga-fixture.ts'

/** The shortest that a server takes. */
const RETENTION_MS = 60_000
/** A server looks for what may go every 30 s. */
const GONE_MS_MAX = RETENTION_MS + 90_000
const SETTLE_MS_MAX = 30_000
const POLL_MS = 1_000

export const sagaEmptyRetention: Scenario = {
  name: 'saga-empty-retention',
  summary: 'memory of finished sagas in a private Redis, and that a retention of 1 minute gives it back',
  defaults: { store: 'redis', rounds: 1 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections, sagas } = settings
    requireRedis(settings.store)
    const { host, link } = await openOwnRedis(harness, 'everysec')
    const isEmpty = await takesEmptyUrls(context, await host.newDatabase())
    const options = ['--retention-ms', String(RETENTION_MS)]
    const fixture = await openSagaFixture(context, host, await host.newDatabase(), { options })
    const name = `${sagas} finished sagas`
    const plan = sagaPlan(fixture, context, { name, connections, branches, isEmpty })
    const [emptyBytes, emptyKeys] = [await usedMemoryBytes(link), await keyCount(link)]
    const job = { ...plan.job, length: { type: 'count', warmUpAnswers: 0, answers: sagas } } as const
    progress.show(`${sagas} sagas run`)
    const measured = await measure(harness, { ...plan, job })
    const [server] = fixture.servers
    const [fullBytes, fullKeys] = [await usedMemoryBytes(link), await keyCount(link)]
    const finishedAt = performance.now()
    const branchCalls = await fixture.branch.callCount()
    checkEqual({ sagas, answers: measured.answers })
    checkEqual({ callsExpected: isEmpty ? 0 : sagas * branches, branchCalls })
    await until('the end of the retention', GONE_MS_MAX, () => nothingLeft(server.url, progress), POLL_MS)
    const goneMs = performance.now() - finishedAt
    const leftBytes = await settledBytes(link)
    const leftKeys = await keyCount(link)
    const figures = {
      'bytes/saga': (fullBytes - emptyBytes) / sagas,
      'bytes/saga then': (leftBytes - emptyBytes) / sagas,
      'keys/saga': (fullKeys - emptyKeys) / sagas,
      'keys left': leftKeys - emptyKeys,
      'gone after s': goneMs / 1000,
    }
    return {
      store: toStoreFacts(host, server),
      rows: [toRow(name, [{ ...measured, figures }])],
      ratios: [
        {
          name: 'memory given back',
          spread: toSpread([(fullBytes - leftBytes) / (fullBytes - emptyBytes)]),
        },
      ],
      counters: { answers: measured.answers, branchCalls, left: await countStored(server.url) },
      notes: [
        emptyNote(isEmpty),
        `retention ${RETENTION_MS / 1000} s; bytes: used_memory of Redis, less that of the empty one; then: when no finished saga was listed any more`,
      ],
    }
  },
}

/** It shrinks its tables a step at a time. */
async function settledBytes(link: OwnRedis['link']): Promise<number> {
  let before = Number.POSITIVE_INFINITY
  return await until(
    'the memory is given back',
    SETTLE_MS_MAX,
    async () => {
      const bytes = await usedMemoryBytes(link)
      const isSettled = bytes >= before
      before = bytes
      return isSettled ? bytes : undefined
    },
    POLL_MS,
  )
}

async function nothingLeft(url: string, progress: { show(text: string): void }): Promise<true | undefined> {
  const response = await fetch(`${url}/v1/transactions?limit=1`)
  if (response.status !== 200) throw new Error(`the list of transactions answered ${response.status}`)
  const page = (await response.json()) as { readonly items: readonly unknown[]; readonly cursor?: string }
  progress.show('waiting for the end of the retention')
  // A page may be empty and yet not be the last.
  return page.items.length === 0 && page.cursor === undefined ? true : undefined
}
