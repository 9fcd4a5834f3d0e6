import { Buffer, isUtf8 } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { readExcerpt } from '../src/excerpt.ts'
import { serveHttp } from './hostile-server.ts'
import { callOnce } from './test-caller.ts'

const BYTES_MAX = 1024

describe('an excerpt', () => {
  for (const [what, unit] of [
    ['one byte', 'a'],
    ['two bytes', 'ü'],
    ['three bytes', '€'],
    ['four bytes', '😀'],
  ] as const) {
    it(`An excerpt is cut between characters of ${what}`, () => {
      for (let shift = 0; shift < 4; shift++) {
        const whole = 'x'.repeat(shift) + unit.repeat(2000)
        const cut = readExcerpt(Buffer.from(whole)) ?? ''
        expect(whole.startsWith(cut)).toBe(true)
        expect(cut).not.toContain('\u{fffd}')
        const bytes = Buffer.byteLength(cut)
        expect(bytes).toBeLessThanOrEqual(BYTES_MAX)
        expect(bytes).toBeGreaterThan(BYTES_MAX - 4)
      }
    })
  }

  it('An excerpt is valid UTF-8 within the bound for any bytes', () => {
    for (let seed = 1; seed < 200; seed++) {
      const bytes = Buffer.from(Array.from({ length: 1500 }, (_, at) => (at * seed * 31 + seed * 7) & 0xff))
      const text = readExcerpt(bytes) ?? ''
      expect(isUtf8(Buffer.from(text))).toBe(true)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES_MAX)
    }
  })

  it('An excerpt keeps line feeds and tabs, and nothing that drives a terminal', () => {
    const text = readExcerpt(Buffer.from('a\n\tb\r\u001b[31m\u0000\u0007\u009b\u202ec\u007f'))
    expect(text).toBe('a\n\tb\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}c\u{fffd}')
  })

  it('There is no excerpt where there is no body', async () => {
    expect(readExcerpt(Buffer.alloc(0))).toBeUndefined()
    const server = await serveHttp((_request, response) => response.end())
    expect(await callOnce(server.url)).toEqual({ result: 'success', statusCode: 200 })
  })

  it('An excerpt is put together from the pieces in which it came', async () => {
    const server = await serveHttp(async (_request, response) => {
      for (const piece of ['ab', 'c€', 'd'.repeat(2000)]) {
        await new Promise<void>((resolve) => response.write(piece, () => resolve()))
      }
      response.end('e')
    })
    expect((await callOnce(server.url)).excerpt).toBe(`abc€${'d'.repeat(BYTES_MAX - 6)}`)
  })
})
