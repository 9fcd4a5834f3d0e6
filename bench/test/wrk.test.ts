import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Row } from '../src/row.ts'
import { spreadOf } from '../src/spread.ts'
import { confirmationNote, OURS_TO_WRK, WRK_RATE, withConfirmation } from '../src/wrk/confirmation.ts'
import { findWrk } from '../src/wrk/find-wrk.ts'
import { Wrk } from '../src/wrk/run-wrk.ts'

const program = findWrk()
const BODY = '{"gid":"a]]b\\"","text":"ü\\n","again":"a]]b\\""}'

describe.skipIf(program === undefined)('wrk', () => {
  const bodies = new Set<string>()
  let status = 200
  let answered = 0
  let server: Server
  let folder: string
  let wrk: Wrk

  const jobOf = (unique?: string) => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`,
    headers: { 'content-type': 'application/json', prefer: 'wait=30' },
    body: BODY,
    ...(unique === undefined ? {} : { unique }),
    connections: 3,
    length: { type: 'time', warmUpSeconds: 0.1, seconds: 0.3 } as const,
    expectStatus: 200,
    expect: '',
  })

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'))
    wrk = new Wrk(program ?? '', folder)
    bodies.clear()
    answered = 0
    status = 200
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        bodies.add(`${request.method} ${request.url} ${request.headers.prefer} ${Buffer.concat(chunks)}`)
        answered += 1
        response.writeHead(status).end('{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })

  it('asks the same, byte for byte, and gets an answer to each request', async () => {
    const result = await wrk.run(jobOf())
    expect([...bodies]).toEqual([`POST /path wait=30 ${BODY}`])
    expect(answered).toBeGreaterThan(3)
    expect(result?.answers).toBe(answered)
    expect(result?.answersPerSecond).toBeGreaterThan(0)
  })

  it('gives each request its own text where that is asked for', async () => {
    await wrk.run(jobOf('a]]b'))
    expect(bodies.size).toBe(answered)
    for (const body of bodies) expect(body).toMatch(/"gid":"(a\]\]b-wrk1-\d+)\\.*"again":"\1\\/)
  })

  it('fails when an answer is an error', async () => {
    status = 500
    await expect(wrk.run(jobOf())).rejects.toThrow('not every answer was as expected')
  })
})

describe.skipIf(program === undefined)('what wrk says of the rows', () => {
  const row = (name: string, ours: number, wrk?: number): Row =>
    withConfirmation({
      name,
      perSecond: spreadOf([ours]),
      p50Ms: null,
      p99Ms: null,
      cpuUs: null,
      answers: 1,
      figures: wrk === undefined ? {} : { [WRK_RATE]: spreadOf([wrk]) },
    })

  it('is a ratio for each row', () => {
    expect(row('a', 90, 100).figures[OURS_TO_WRK]?.median).toBe(0.9)
  })

  it('is a confirmation within its bound', () => {
    expect(confirmationNote([row('a', 90, 100), row('b', 100, 90), row('c', 1)])).toBe(
      'wrk confirms 2 of 3 rows within 15 %: autocannon/wrk is 0.90 to 1.11',
    )
  })

  it('names the rows that are further apart', () => {
    expect(confirmationNote([row('a', 100, 100), row('b', 80, 100)])).toMatch(/^CAUTION: .*: b \(0\.80\)/)
  })

  it('says so where it could ask nothing', () => {
    expect(confirmationNote([row('a', 1)])).toMatch(/^wrk: no row/)
  })
})

it('a program that is not installed is not found', () => {
  expect(findWrk(tmpdir())).toBeUndefined()
})
