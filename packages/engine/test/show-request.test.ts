import type { Gid, SagaSubmitRequest } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'

const GID = 'g' as Gid
const LARGE = 'x'.repeat(60_000)

/** Builds a saga whose branches all take the answer of the first one, which is filled in anew for each request. */
function sagaOfOneValue(branches: number): SagaSubmitRequest {
  const template = { x: { $from: 'a', at: '/v' } }
  const takers = Array.from({ length: branches }, (_, n) => ({
    id: `b${n}`,
    action: `http://bank.test/a${n}`,
    template,
    compensation: { url: `http://bank.test/c${n}`, template },
  }))
  return {
    gid: GID,
    branches: [{ id: 'a', action: 'http://bank.test/a' }, { id: 'w', wait: { ms: 86_400_000 } }, ...takers],
  }
}

describe('the requests of a transaction', () => {
  it('S40: They are filled with values up to a bound, and the others are shown without them', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.otherwise = () => ({ result: 'success', body: JSON.stringify({ v: LARGE }) })
    await node.submit(sagaOfOneValue(90))
    await fixture.time.advance(1_000)
    const view = await node.engine.showRequest(GID)
    const bodies = view?.ops.slice(1).map(({ body }) => body) ?? []
    expect(bodies).toHaveLength(180)
    expect(bodies[0]).toBe(JSON.stringify({ x: LARGE }))
    expect(bodies.at(-1)).toBe('{}')
    expect(bodies.join('').length).toBeLessThan(400_000)
  })
})
