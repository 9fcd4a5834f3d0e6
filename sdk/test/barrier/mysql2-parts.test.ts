import { describe, expect, it } from 'vitest'
import { findDriverFaults } from '../../src/barrier/mysql/mysql2-parts.ts'

const raw = {
  promise: () => undefined,
  threadId: 7,
  stream: { destroy: () => undefined },
  config: { connectAttributes: { _client_version: '3.99.0' } },
}
const prepare = async () => ({ statement: {}, close: async () => undefined })

describe('the self-test of the parts of mysql2', () => {
  it('The self-test of mysql2 finds no fault where all parts are there', async () => {
    expect(await findDriverFaults({ connection: raw, prepare })).toEqual([])
  })

  it('The self-test of mysql2 names each part that is missing, and the version that was found', async () => {
    const { stream: _stream, threadId: _threadId, ...changed } = raw
    const faults = await findDriverFaults({
      connection: changed,
      prepare: async () => ({ close: async () => undefined }),
    })
    expect(faults).toEqual([
      expect.stringMatching(/^mysql2 3\.99\.0 has changed `stream`/),
      expect.stringMatching(/^mysql2 3\.99\.0 has changed `threadId`/),
      expect.stringMatching(/^mysql2 3\.99\.0 has changed `statement`/),
    ])
  })

  it('The self-test of mysql2 asks nothing of a connection of another driver', async () => {
    expect(await findDriverFaults({ query: () => undefined })).toEqual([])
  })
})
