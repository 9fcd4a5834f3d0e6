import { describe, expect, it } from 'vitest'
import { openDtmFixture } from './support/dtm-fixture.ts'
import { saga } from './support/requests.ts'

const OK = { status: 200, body: '{"dtm_result":"SUCCESS"}' }

describe('a header value beyond ASCII', () => {
  it('A header value beyond ASCII reaches the branch in UTF-8, as from DTM, and brings no other header', async () => {
    await using dtm = await openDtmFixture()
    // The last one would be a line break and a header of its own if each character were cut to a byte.
    const values = ['Müller', '€ 5', '日本 😀', 'a\u{10d}\u{10a}x-evil: 1']
    for (const [at, value] of values.entries()) {
      const branches = dtm.play()
      const body = saga(`utf8-${at}`, branches, 1, { branch_headers: { 'X-Name': value }, wait_result: true })
      expect(await dtm.node.post('submit', body)).toEqual(OK)
      const headers = new Map(branches.calls[0]?.headers)
      expect(Buffer.from(headers.get('x-name') ?? '', 'latin1').toString('utf8')).toBe(value)
      expect([...headers.keys()].filter((name) => name.toLowerCase().includes('evil'))).toEqual([])
    }
  })
})
