import { describe, expect, it } from 'vitest'
import { TargetCache } from '../src/target-cache.ts'

const resolve = (url: string) =>
  URL.parse(url) ?? ({ code: 'SAGA_URL_INVALID', message: 'is not a URL' } as const)
const parse = ({ host }: URL) => ({ host })

describe('the target cache', () => {
  it('The target cache gives the same target while it is kept', () => {
    const cache = new TargetCache(10, resolve, parse)
    expect(cache.get('http://a/x')).toBe(cache.get('http://a/x'))
  })

  it('The target cache is bounded, and keeps the targets that are used', () => {
    const cache = new TargetCache(10, resolve, parse)
    const kept = cache.get('http://a/kept')
    for (let n = 0; n < 1000; n++) {
      cache.get(`http://a/${n}`)
      expect(cache.get('http://a/kept')).toBe(kept)
      expect(cache.size).toBeLessThanOrEqual(20)
    }
  })

  it('The target cache keeps nothing for a URL that is refused', () => {
    const cache = new TargetCache(10, resolve, parse)
    expect(cache.get('nowhere')).toBe('bad-url')
    expect(cache.size).toBe(0)
  })
})
