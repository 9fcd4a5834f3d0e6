import { URL_LENGTH_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { fillUrl, findMisplaced, listPlaces } from './fill-url.ts'

describe('fillUrl', () => {
  it.each([
    ['http://a/{x}', 'b', 'http://a/b'],
    ['http://a/{x}/{x}?q={x}', 'b c', 'http://a/b%20c/b%20c?q=b%20c'],
    ['http://a/{x}', '../..', 'http://a/..%2F..'],
    ['http://a/v{x}?q=1', '', 'http://a/v?q=1'],
    ['http://a/p?q={x}', '', 'http://a/p?q='],
    ['http://a/p?q={x}', '..', 'http://a/p?q=..'],
    ['http://a/p?q={x}', '1&op=action', 'http://a/p?q=1%26op%3Daction'],
    ['bank:/holds/{x}', 'é?#', 'bank:/holds/%C3%A9%3F%23'],
    ['http://a//{x}', 'b', 'http://a//b'],
    ['http://a/{x}', '{y}', 'http://a/%7By%7D'],
  ])('A value stands percent-encoded in its place: %s with %s', (url, value, filled) => {
    expect(fillUrl(url, () => value)).toBe(filled)
  })

  it.each([
    ['http://a/{x}', ''],
    ['http://a/{x}', '.'],
    ['http://a/{x}', '..'],
    ['http://a/{x}/b', '..'],
    ['http://a/.{x}', '.'],
    ['http://a/%2e{x}', '.'],
    ['http://a/%2E{x}/', '%2E'.slice(3)],
    ['http://a/{x}', '\ud800'],
  ])(
    'A value that would change the path, or that UTF-8 cannot carry, is refused: %s with "%s"',
    (url, value) => {
      expect(fillUrl(url, () => value)).toBeUndefined()
    },
  )

  it('A place whose value is not known yet stays', () => {
    expect(fillUrl('http://a/{x}/{y}', (name) => (name === 'x' ? '1' : undefined))).toBe('http://a/1/{y}')
    expect(listPlaces('http://a/{x}/{y}?q={x}')).toEqual(['x', 'y'])
  })

  it('S40: A large value in hundreds of places makes no large URL, only one that is too long', () => {
    const url = `http://a/${'{x}'.repeat(600)}`
    const large = 'é'.repeat(1_000_000)
    const filled = fillUrl(url, () => large) ?? ''
    expect(filled.length).toBeGreaterThan(URL_LENGTH_MAX)
    expect(filled.length).toBeLessThan(10 * URL_LENGTH_MAX)
  })

  it.each([1, 2, 3])(
    'S40: A value that is cut within a pair of surrogates is too long as well: %i',
    (length) => {
      const filled =
        fillUrl('http://a/{x}', () => `${'a'.repeat(length)}${'😀'.repeat(URL_LENGTH_MAX)}`) ?? ''
      expect(filled.length).toBeGreaterThan(URL_LENGTH_MAX)
    },
  )
})

describe('findMisplaced', () => {
  it.each(['http://a/{x}', 'https://a:8443/p/{x}.json?q={x}&r=a{y}b', 'bank:/holds/{x}', 'bank:/?q={x}'])(
    'Places may stand in a path and in the value of a parameter: %s',
    (url) => expect(findMisplaced(url)).toBeUndefined(),
  )

  it.each([
    'http://{x}/p',
    'http://a.{x}/p',
    'http://u:{x}@a/p',
    'http://a:{x}/p',
    'http://a{x}',
    'http://a?q={x}',
    'http:/{x}/p',
    'http:///{x}',
    'HTTP:/{x}/p',
    'ht\ntp:/{x}',
    'http:\\\\{x}/',
    'http://a\\{x}',
    '{x}:/p',
    '{x}',
    '/{x}',
    'bank://{x}/p',
    'bank:{x}',
    'http://a/p?{x}',
    'http://a/p?a=1&{x}=2',
    'http://a/p#{x}',
    'http://a/{',
    'http://a/{x',
    'http://a/{x}}',
    'http://a/{1}',
    'http://a/{x y}',
  ])('No place may stand anywhere else, and no other brace: %s', (url) => {
    expect(findMisplaced(url)).toBeTypeOf('string')
  })
})
