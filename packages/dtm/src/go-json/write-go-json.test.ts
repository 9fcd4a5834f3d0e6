import { expect, it } from 'vitest'
import { writeGoJson } from './write-go-json.ts'

const MILLION = 1_000_000

it('JSON is written with the escapes of Go', () => {
  const value = { 'a&b': '<b>&amp;</b>\u2028\u2029é"\\' }
  const text = writeGoJson(value)
  expect(text).toBe('{"a\\u0026b":"\\u003cb\\u003e\\u0026amp;\\u003c/b\\u003e\\u2028\\u2029é\\"\\\\"}')
  expect(JSON.parse(text)).toEqual(value)
})

it('S17: Characters that are escaped cost less than half of what a function for each of them would', () => {
  const value = '<'.repeat(MILLION)
  const readFastestMs = (write: (value: string) => string) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const { user } = process.cpuUsage()
        expect(write(value)).toHaveLength(6 * MILLION + 2)
        return process.cpuUsage().user - user
      }),
    )
  const forEachMs = readFastestMs((text) => JSON.stringify(text).replace(/[<>&]/g, escapeOne))
  expect(readFastestMs(writeGoJson)).toBeLessThan(forEachMs / 2)
})

function escapeOne(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
