import type { TransactionView } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { isRetryable, type NodeAnswer, submit } from './node-client.ts'
import { type NamedRequest, serialSaga } from './saga-requests.ts'

const GIDS = 200
const NODES = 3
/** So many gids are sent at once, each to all nodes at the same instant. */
const AT_ONCE = 20
const WAIT_SECONDS = 10

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, `one gid submitted to ${NODES} nodes at once`, (storeUrl) => {
    let fixture: Fixture

    beforeAll(async () => {
      fixture = await Fixture.start(storeUrl, NODES, { 'poll-ms': 200 })
    })

    afterAll(() => fixture.stop())

    async function everywhere(
      word: string,
      request: (gid: string, node: number) => NamedRequest,
    ): Promise<Map<string, readonly NodeAnswer[]>> {
      const answers = new Map<string, readonly NodeAnswer[]>()
      for (let from = 0; from < GIDS; from += AT_ONCE) {
        const gids = Array.from({ length: AT_ONCE }, (_, index) => `${word}-${from + index}`)
        const sent = gids.map(async (gid) => {
          const each = fixture.urls.map((url, node) => untilDefinite(url, request(gid, node)))
          answers.set(gid, await Promise.all(each))
        })
        await Promise.all(sent)
      }
      return answers
    }

    it('One gid that all nodes get at once is one transaction: all answers agree, and its branches were called once', async () => {
      const answers = await everywhere('same', (gid) => serialSaga(gid, fixture.branches.url, 2))
      const views = [...answers.values()].map((each) => each.map(readView))
      for (const each of views) {
        // A node that did not run it answers from the row, which may stand behind the runner's memory in fields that
        // only inform.
        const said = each.map(({ gid, status, createdAt, finishedAt, epoch }) => ({
          gid,
          status,
          createdAt,
          finishedAt,
          epoch,
        }))
        expect(said).toEqual(said.map(() => ({ ...said[0], status: 'succeeded', epoch: 1 })))
      }
      const faults = views.flatMap((each) =>
        each.flatMap((view) => auditEffects(fixture.branches.ledger, view)),
      )
      const calls = [...answers.keys()].map((gid) => fixture.branches.calls(gid).length)
      process.stdout.write(
        `${server}: ${answers.size} gids, each to ${NODES} nodes: ${calls.reduce((sum, n) => sum + n)} branch calls\n`,
      )
      expect(faults).toEqual([])
      expect(calls).toEqual(calls.map(() => 2))
    }, 60_000)

    it('One gid with different contents is accepted once, and the others leave it untouched', async () => {
      const answers = await everywhere('other', (gid, node) =>
        serialSaga(gid, fixture.branches.url, 2, `content of node ${node}`),
      )
      const winners = new Map<number, number>()
      for (const [gid, each] of answers) {
        const accepted = each.flatMap((answer, node) => (answer.type === 'view' ? [node] : []))
        const refused = each.filter((answer) => answer.type === 'problem')
        expect([gid, accepted.length]).toEqual([gid, 1])
        expect(refused.map(({ status, code }) => [status, code])).toEqual(
          refused.map(() => [409, 'SAGA_GID_CONFLICT']),
        )
        const [winner = -1] = accepted
        winners.set(winner, (winners.get(winner) ?? 0) + 1)
        const bodies = fixture.branches.calls(gid).map(({ body }) => body)
        expect(bodies).toEqual([winner, winner].map((node) => JSON.stringify(`content of node ${node}`)))
        const accept = each[winner]
        expect(accept === undefined ? [] : auditEffects(fixture.branches.ledger, readView(accept))).toEqual(
          [],
        )
      }
      process.stdout.write(
        `${server}: ${answers.size} gids with ${NODES} contents, won by ${[...winners.values()].join(' / ')}\n`,
      )
      expect(winners.size).toBeGreaterThan(1)
    }, 60_000)
  })
}

async function untilDefinite(url: string, request: NamedRequest): Promise<NodeAnswer> {
  for (;;) {
    const answer = await submit(url, request, { waitSeconds: WAIT_SECONDS })
    if (!isRetryable(answer)) return answer
  }
}

function readView(answer: NodeAnswer): TransactionView {
  if (answer.type === 'view') return answer.view
  throw new Error(`no view: ${JSON.stringify(answer)}`)
}
