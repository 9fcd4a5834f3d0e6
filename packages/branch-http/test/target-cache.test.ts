import { describe, expect, it } from 'vitest'
import { TargetCache } from '../src/target-cache.ts'

describe('the target cache', () => {
  it('gives the same target while it is kept', () => {
    const cache = new TargetCache(10)
    expect(cache.get('http://a/x')).toBe(cache.get('http://a/x'))
  })

  it('is bounded, and keeps what is used', () => {
    const cache = new TargetCache(10)
    const kept = cache.get('http://a/kept')
    for (let n = 0; n < 1000; n++) {
      cache.get(`http://a/${n}`)
      expect(cache.get('http://a/kept')).toBe(kept)
      expect(cache.size).toBeLessThanOrEqual(20)
    }
  })

  it('keeps nothing of what is no target', () => {
    const cache = new TargetCache(10)
    expect(cache.get('nowhere')).toBeUndefined()
    expect(cache.size).toBe(0)
  })
})
