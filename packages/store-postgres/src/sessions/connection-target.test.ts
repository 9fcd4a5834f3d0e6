import type { TlsChoice } from '@counterstep/store-sql'
import { describe, expect, it } from 'vitest'
import { toConnectionTarget } from './connection-target.ts'

function toTarget(url: string, tls?: TlsChoice) {
  return toConnectionTarget(url, tls)
}

describe('the store URL', () => {
  it('The store URL names all parts, some of them percent-encoded', () => {
    const url = 'postgresql://us%40er:p%2Fa%3As%40s%20%25@[::1]:6432/data%2Dbase'
    const parts = { user: 'us@er', password: 'p/a:s@s %', host: '::1', port: 6432, database: 'data-base' }
    expect(toTarget(url)).toMatchObject(parts)
    expect(toTarget('postgres://a@localhost/b')).toMatchObject({ host: 'localhost', port: 5432 })
  })

  it('A store URL without a user or a password leaves nothing to the environment', () => {
    const target = toTarget('postgres://localhost/b')
    expect(target).toMatchObject({ user: 'postgres', password: '' })
    for (const name of ['host', 'port', 'user', 'password', 'database'] as const)
      expect(target[name]).toBeDefined()
  })

  it('A store URL is refused without its text, which has the password', () => {
    const wrong = [
      'postgres://u:secret@h',
      'postgres://u:secret@h/',
      'http://u:secret@h/d',
      'postgres://u:secret@h:x/d',
      'postgres://u:secret@h/d?sslmode=disable',
      'postgres://u:secret@h/d?host=/tmp',
      'secret',
    ]
    for (const url of wrong) {
      expect(() => toTarget(url)).toThrow(TypeError)
      expect(() => toTarget(url)).not.toThrow('secret')
    }
  })
})

describe('TLS', () => {
  const checked = { rejectUnauthorized: true, minVersion: 'TLSv1.2' }

  it('TLS is off for this machine and required for every other, unless an option says otherwise', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(toTarget(`postgres://u@${host}/d`).ssl).toBe(false)
    }
    expect(toTarget('postgres://u@db.example/d').ssl).toMatchObject({ ...checked, servername: 'db.example' })
    expect(toTarget('postgres://u@localhost/d', 'required').ssl).toMatchObject({
      ...checked,
      servername: 'localhost',
    })
    expect(toTarget('postgres://u@db.example/d', 'off').ssl).toBe(false)
  })

  it('TLS always checks the certificate and the name on it', () => {
    const target = toTarget('postgres://u@db.example/d', { ca: 'PEM' })
    expect(target.ssl).toMatchObject({ ...checked, servername: 'db.example', ca: 'PEM' })
    const named = toTarget('postgres://u@10.0.0.1/d', { serverName: 'db.example' })
    expect(named).toMatchObject({ host: '10.0.0.1', ssl: { ...checked, servername: 'db.example' } })
  })

  it('TLS needs a name for a server that has only an address', () => {
    expect(() => toTarget('postgres://u@10.0.0.1/d')).toThrow('serverName')
  })
})
