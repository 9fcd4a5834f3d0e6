import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { expect, it } from 'vitest'
import { openBothApis } from './both-apis.ts'

const OF_THE_CALLER = {
  authorization: 'Bearer secret-of-caller',
  cookie: 'session=secret-of-caller',
  'proxy-authorization': 'Basic secret-of-caller',
  'x-api-key': 'secret-of-caller',
  'x-forwarded-for': 'secret-of-caller',
  traceparent: 'secret-of-caller',
  'x-trace': 'secret-of-caller',
}

it("S29: No header of a caller's request is stored or passed on: only those that its body names", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-headers-'))
  const store = await openSqliteStore({ path: join(folder, 'a.db') })
  {
    await using apis = await openBothApis(store)
    const branches = [{ action: 'http://127.0.0.1:9/a', headers: { 'x-trace': 'named-in-body' } }]
    const submitted = await apis.send({
      api: 'native',
      method: 'POST',
      url: '/v1/transactions',
      headers: { ...OF_THE_CALLER, prefer: 'wait=10' },
      body: { gid: 'n', branches },
    })
    expect(submitted.status).toBe(200)
    const steps = [{ action: 'http://127.0.0.1:9/a', compensate: '' }]
    const dtm = await apis.send({
      api: 'dtm',
      method: 'POST',
      url: '/api/dtmsvr/submit',
      headers: OF_THE_CALLER,
      body: {
        gid: 'd',
        trans_type: 'saga',
        steps,
        payloads: ['{}'],
        wait_result: true,
        branch_headers: { 'x-trace': 'named-in-body' },
      },
    })
    expect(dtm.status).toBe(200)
    expect(apis.calls.map(({ headers }) => headers['x-trace'])).toEqual(['named-in-body', 'named-in-body'])
    expect(JSON.stringify(apis.calls)).not.toContain('secret-of-caller')
  }
  await store.close()
  const files = await Promise.all(
    (await readdir(folder)).map((file) => readFile(join(folder, file), 'latin1')),
  )
  const dump = files.join('\n')
  expect(dump).toContain('named-in-body')
  expect(dump).not.toContain('secret-of-caller')
  await rm(folder, { recursive: true })
})
