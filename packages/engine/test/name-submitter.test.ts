import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { nameSubmitter } from '../src/name-submitter.ts'
import { toLane } from '../src/read-limiter.ts'
import { Fixture } from './support/fixture.ts'
import { buildSaga } from './support/sagas.ts'

describe('the submitter of a transaction', () => {
  it('Is named by a short hash, whatever it asks for', () => {
    const name = nameSubmitter('shop')
    expect(name).toMatch(/^[0-9a-f]{12}$/)
    expect(nameSubmitter(toLane('shop', 'submit'))).toBe(name)
    expect(nameSubmitter('bank')).not.toBe(name)
  })

  it('Is stored, and is neither shown nor part of the content', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 1, { delayMs: 5_000 }), { caller: 'shop' })
    expect(JSON.parse((await fixture.row('a')).definition)).toHaveProperty('submitter', nameSubmitter('shop'))
    await node.submit(buildSaga('a', 1, { delayMs: 5_000 }), { caller: 'bank' })
    expect(await node.get('a')).not.toHaveProperty('submitter')
    expect(await node.engine.showRequest('a' as Gid)).not.toContain('submitter')
  })

  it('Is not stored where the caller is not known', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    await node.submit(buildSaga('a', 1, { delayMs: 5_000 }))
    expect(JSON.parse((await fixture.row('a')).definition)).not.toHaveProperty('submitter')
  })
})
