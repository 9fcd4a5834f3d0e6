import { describe, expect, it } from 'vitest'
import { until } from '../src/until.ts'

describe('until', () => {
  it('The function until returns what it sees first, even a zero', async () => {
    const seen = [undefined, false, 0, 1]
    expect(await until('something is seen', 5_000, () => seen.shift(), 1)).toBe(0)
    expect(seen).toEqual([1])
  })

  it('The function until says what it waited for when it has seen nothing in time', async () => {
    let looks = 0
    const nothing = () => {
      looks += 1
      return undefined
    }
    await expect(until(() => `something; ${looks} looks`, 0, nothing, 1)).rejects.toThrow(
      /^not within 0 ms: something; \d+ looks$/,
    )
  })
})
