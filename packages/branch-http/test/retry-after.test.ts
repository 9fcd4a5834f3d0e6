import { RETRY_CAP_MS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { retryAfterMs } from '../src/retry-after.ts'
import { serveHttp } from './hostile-server.ts'
import { callOnce } from './test-caller.ts'

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0)

describe('Retry-After', () => {
  const rows: readonly (readonly [string | string[] | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    [['3', '9'], 3_000],
    ['999999999999', RETRY_CAP_MS_MAX],
    ['1e12', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['Fri, 20 Nov 2099 12:00:00 GMT', RETRY_CAP_MS_MAX],
    ['Fri, 99 Nov 2026 12:00:00 GMT', undefined],
    ['2026-11-20T12:00:30Z', undefined],
  ]
  for (const [header, waitMs] of rows) {
    it(`The header ${JSON.stringify(header)} means ${waitMs} milliseconds`, () => {
      expect(retryAfterMs(header, () => NOW)).toBe(waitMs)
    })
  }

  for (const [status, result] of [
    [503, 'unknown'],
    [429, 'unknown'],
    [425, 'ongoing'],
  ] as const) {
    it(`The header Retry-After counts with the status ${status}`, async () => {
      const server = await serveHttp((_request, response) => {
        response.writeHead(status, { 'retry-after': '2' })
        response.end()
      })
      expect(await callOnce(server.url)).toEqual({ result, statusCode: status, retryAfterMs: 2_000 })
    })
  }
})
