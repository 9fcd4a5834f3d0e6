import { describe, expect, it } from 'vitest'
import { chooseTls, parseServerUrl } from './server-url.ts'

const RULES = { protocols: ['db:', 'database:'], defaultPort: 4_000 }

describe('the URL of a server', () => {
  const table = [
    // Each row has: the URL, then the host, the port, the user, the password and the database.
    ['db://u:p@h:5/d', 'h', 5, 'u', 'p', 'd'],
    ['database://u:p@h/d', 'h', 4_000, 'u', 'p', 'd'],
    ['db://h/d', 'h', 4_000, '', '', 'd'],
    ['db://us%40er:p%2Fa%3As%40s%20%25@h/d%2Fe', 'h', 4_000, 'us@er', 'p/a:s@s %', 'd/e'],
    ['db://u@[::1]:5/d', '::1', 5, 'u', '', 'd'],
    ['db://u@127.0.0.1/d', '127.0.0.1', 4_000, 'u', '', 'd'],
  ] as const
  for (const [url, host, port, user, password, database] of table) {
    it(`The URL ${url} names its parts`, () => {
      expect(parseServerUrl(url, RULES)).toEqual({ host, port, user, password, database })
    })
  }

  const wrong = [
    ['secret', 'is not a URL'],
    ['db://u:secret@h:x/d', 'is not a URL'],
    ['http://u:secret@h/d', 'must begin with db:// or database://'],
    ['db://u:secret@h', 'must name a host and a database'],
    ['db://u:secret@h/', 'must name a host and a database'],
    ['db:///secret', 'must name a host and a database'],
    ['db://u:secret@h/d?x=1', 'takes no parameters'],
    ['db://u:secret@h/d#x', 'takes no parameters'],
  ] as const
  for (const [url, message] of wrong) {
    it(`A URL is refused without its text, which has the password: ${message}, ${url.length} characters`, () => {
      expect(() => parseServerUrl(url, RULES)).toThrow(TypeError)
      expect(() => parseServerUrl(url, RULES)).toThrow(message)
      expect(() => parseServerUrl(url, RULES)).not.toThrow('secret')
    })
  }

  it('A URL whose percent signs are wrong is refused without its text', () => {
    for (const url of ['db://u:secret%zz@h/d', 'db://%zz:secret@h/d', 'db://u:secret@h/%zz']) {
      expect(() => parseServerUrl(url, RULES)).toThrow(TypeError)
      expect(() => parseServerUrl(url, RULES)).not.toThrow('secret')
    }
  })
})

describe('TLS', () => {
  it('TLS is off for this machine and required for every other, unless an option says otherwise', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
      expect(chooseTls(host, undefined)).toBeUndefined()
    }
    for (const host of ['db.example', '127.example', 'localhost.example']) {
      expect(chooseTls(host, undefined)).toEqual({ serverName: host })
    }
    expect(chooseTls('localhost', 'required')).toEqual({ serverName: 'localhost' })
    expect(chooseTls('db.example', 'off')).toBeUndefined()
  })

  it('TLS needs a name for a server that has only an address', () => {
    for (const host of ['10.0.0.1', '2001:db8::1']) {
      expect(() => chooseTls(host, undefined)).toThrow('serverName')
      expect(chooseTls(host, { serverName: 'db.example', ca: 'PEM' })).toEqual({
        serverName: 'db.example',
        ca: 'PEM',
      })
    }
    expect(() => chooseTls('db.example', { serverName: '10.0.0.1' })).toThrow('serverName')
  })
})
