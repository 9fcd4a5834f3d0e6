import type { TlsChoice } from '@counterstep/store-sql'
import { describe, expect, it } from 'vitest'
import { toConnectionTarget } from './connection-target.ts'

function toTarget(url: string, tls?: TlsChoice) {
  return toConnectionTarget(url, tls, 2_000)
}

describe('the store URL', () => {
  it('The store URL names all parts, some of them percent-encoded', () => {
    const url = 'mariadb://us%40er:p%2Fa%3As%40s%20%25@[::1]:3307/data%2Dbase'
    const parts = { user: 'us@er', password: 'p/a:s@s %', host: '::1', port: 3307, database: 'data-base' }
    expect(toTarget(url)).toMatchObject(parts)
    expect(toTarget('mysql://a@localhost/b')).toMatchObject({ host: 'localhost', port: 3306 })
  })

  it('A store URL is refused without its text, which has the password', () => {
    const wrong = [
      'mysql://u:secret@h',
      'mysql://u:secret@h/',
      'http://u:secret@h/d',
      'mysql://u:secret@h:x/d',
      'mysql://u:secret@h/d?multipleStatements=true',
      'secret',
    ]
    for (const url of wrong) {
      expect(() => toTarget(url)).toThrow(TypeError)
      expect(() => toTarget(url)).not.toThrow('secret')
    }
  })

  it('A store URL cannot switch on several statements or the reading of local files', () => {
    const { multipleStatements, flags } = toTarget('mysql://u@localhost/d')
    expect([multipleStatements, flags]).toEqual([false, ['-FOUND_ROWS', '-LOCAL_FILES']])
  })
})

describe('TLS', () => {
  const checked = { rejectUnauthorized: true, verifyIdentity: true, minVersion: 'TLSv1.2' }

  it('TLS is off for this machine and required for every other, unless an option says otherwise', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(toTarget(`mysql://u@${host}/d`).ssl).toBeUndefined()
    }
    expect(toTarget('mysql://u@db.example/d').ssl).toEqual(checked)
    expect(toTarget('mysql://u@localhost/d', 'required').ssl).toEqual(checked)
    expect(toTarget('mysql://u@db.example/d', 'off').ssl).toBeUndefined()
  })

  it('TLS always checks the certificate and the name on it', () => {
    expect(toTarget('mysql://u@db.example/d', { ca: 'PEM' }).ssl).toEqual({ ...checked, ca: 'PEM' })
    const named = toTarget('mysql://u@10.0.0.1/d', { serverName: 'db.example' })
    expect([named.host, named.ssl]).toEqual(['db.example', checked])
  })

  it('TLS needs a name for a server that has only an address', () => {
    expect(() => toTarget('mysql://u@10.0.0.1/d')).toThrow('serverName')
  })
})
