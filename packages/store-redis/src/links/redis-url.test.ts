import { describe, expect, it } from 'vitest'
import { parseRedisUrl } from './redis-url.ts'

const node = (host: string, port = 6379) => ({ host, port })

describe('the URL of a Redis', () => {
  const urls = {
    'redis://localhost': { seeds: [node('localhost')], isCluster: false, isTls: false, db: 0 },
    'redis://10.0.0.1:7000/3': { seeds: [node('10.0.0.1', 7000)], isCluster: false, isTls: false, db: 3 },
    'rediss://[::1]:7000/': { seeds: [node('::1', 7000)], isCluster: false, isTls: true, db: 0 },
    'redis://app:s%40cr%2Fet@host': {
      ...{ seeds: [node('host')], isCluster: false, isTls: false, db: 0 },
      ...{ username: 'app', password: 's@cr/et' },
    },
    'redis://:secret@host': {
      ...{ seeds: [node('host')], isCluster: false, isTls: false, db: 0 },
      password: 'secret',
    },
    'rediss-cluster://app:secret@a:1,b:2,c': {
      ...{ seeds: [node('a', 1), node('b', 2), node('c')], isCluster: true, isTls: true, db: 0 },
      ...{ username: 'app', password: 'secret' },
    },
  }
  for (const [url, place] of Object.entries(urls)) {
    it(`The URL is read: ${url}`, () => expect(parseRedisUrl(url)).toEqual(place))
  }

  const malformed = [
    ...['', 'localhost', 'http://a', 'redis:a', 'redis://', 'redis://a:b', 'redis://a:70000'],
    ...['redis://a,b', 'redis://a/x', 'redis://a/1/2', 'redis://a/-1', 'redis://a?x', 'redis://a#x'],
    ...['redis-cluster://a/1', 'redis-cluster://a,', 'redis://user:%zz@a'],
  ]
  for (const url of malformed) {
    it(`The URL is refused: ${url}`, () => {
      expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'SAGA_STORE_UNSUPPORTED' }))
    })
  }

  it('The error does not repeat a refused URL, since it has a password', () => {
    for (const url of ['redis://u:hunter2@a/x', 'http://u:hunter2@a', 'redis://u:hunter2@a:b']) {
      expect(() => parseRedisUrl(url)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
      )
    }
  })
})
