import { memoryStore } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BothApis, openBothApis } from './both-apis.ts'

const BODY = JSON.stringify({ branches: [{ action: 'http://127.0.0.1:9/a' }], unknownField: 1 })
const VALID = JSON.stringify({ branches: [{ action: 'http://127.0.0.1:9/a' }] })

/** These are the four ways around a schema that were found in 2025 and 2026, and their neighbours. */
const TRICKS: readonly string[] = [
  ...[
    'application/json\t',
    'application/json\t; charset=utf-8',
    'application/json ; charset=utf-8',
    ' application/json',
  ],
  ...[
    'APPLICATION/JSON',
    'Application/Json; Charset=UTF-8',
    'application/json;',
    'application/json;;',
    'application/json; charset="utf-8"',
  ],
  ...[
    'application/jsonx',
    'application/json,text/plain',
    'application/json garbage',
    'application/json/x',
    'xapplication/json',
    'text/json',
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/vnd.api+json',
    'application/*',
    '*/*',
    '',
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json\u00a0',
    'application/json\u000b',
  ],
]

describe('S26: content types', () => {
  let apis: BothApis
  beforeAll(async () => {
    apis = await openBothApis(memoryStore())
  })
  afterAll(() => apis[Symbol.asyncDispose]())

  for (const type of TRICKS) {
    it(`S26: ${JSON.stringify(type)} is refused as a type, or its body is checked like any other`, async () => {
      const headers = { 'content-type': type }
      const wrong = await apis.send({
        api: 'native',
        method: 'POST',
        url: '/v1/transactions',
        headers,
        body: BODY,
      })
      const right = await apis.send({
        api: 'native',
        method: 'POST',
        url: '/v1/transactions',
        headers,
        body: VALID,
      })
      expect([
        [415, 415],
        [422, 202],
      ]).toContainEqual([wrong.status, right.status])
    })
  }

  it('S26: No body is parsed but application/json, with or without a charset that is UTF-8', async () => {
    const accepted: string[] = []
    for (const type of TRICKS) {
      const headers = { 'content-type': type }
      const { status } = await apis.send({
        api: 'native',
        method: 'POST',
        url: '/v1/transactions',
        headers,
        body: VALID,
      })
      if (status === 202) accepted.push(type)
    }
    for (const type of accepted) {
      expect(type).toMatch(/^\s*application\/json\s*(;|$)/i)
      expect(type).not.toMatch(/charset=(?!"?utf-8)/i)
    }
    expect(accepted.length).toBeGreaterThan(2)
  })

  it('S26: The DTM dialect reads the same text under any type, and checks it by itself', async () => {
    const body = { gid: 'types', trans_type: 'saga', steps: 'no list' }
    const answers = new Set<string>()
    for (const type of TRICKS) {
      const answer = await apis.send({
        api: 'dtm',
        method: 'POST',
        url: '/api/dtmsvr/submit',
        headers: { 'content-type': type },
        body,
      })
      answers.add(`${answer.status} ${answer.body}`)
    }
    expect([...answers]).toEqual([expect.stringContaining('cannot unmarshal')])
  })
})
