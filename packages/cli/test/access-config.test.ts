import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand } from '../src/config.ts'

type Environment = Readonly<Record<string, string>>

function read(args: readonly string[], environment: Environment = {}) {
  const targets = { COUNTERSTEP_SERVICES: 'bank=http://10.0.0.5:8080' }
  const command = readCommand(['serve', ...args], { ...targets, ...environment })
  return command.type === 'serve' ? command.config.access : command.type === 'refused' ? command.problems : []
}

describe('S10: who may listen where', () => {
  const BEYOND = [
    ...['0.0.0.0', '::', '10.0.0.7', 'orders.example', '128.0.0.1'],
    ...['127.0.0.1.evil.example', '127.0.0.999', '127.1', '0x7f.0.0.1'],
  ]
  for (const host of BEYOND) {
    it(`A bind to ${host} is refused without keys, with the two ways out`, () => {
      expect(read(['--host', host])).toEqual([
        expect.stringMatching(/keys create --keys-file.*--keys-file FILE; or say --insecure-no-keys/),
      ])
    })

    it(`A bind to ${host} is accepted with keys, and without them when a flag says so`, () => {
      expect(read(['--host', host, '--keys-file', 'keys.json'])).toMatchObject({
        keysFile: 'keys.json',
        insecure: [],
      })
      expect(read(['--host', host], { COUNTERSTEP_KEYS_FILE: 'k' })).toMatchObject({ keysFile: 'k' })
      expect(read(['--host', host, '--insecure-no-keys'])).toMatchObject({ insecure: ['no-keys'] })
    })
  }

  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) {
    it(`A bind to ${host} needs no keys`, () =>
      expect(read(['--host', host])).toMatchObject({ insecure: [], keysFile: undefined }))
  }

  it('S10: A server on loopback that has a name of others needs keys, or the word that it needs none', () => {
    const named = ['--allowed-hosts', 'orders.example']
    expect(read(named)).toEqual([
      expect.stringMatching(/^--allowed-hosts orders\.example is reached by others/),
    ])
    expect(read([...named, '--keys-file', 'k'])).toMatchObject({ insecure: [] })
    expect(read([...named, '--insecure-no-keys'])).toMatchObject({ insecure: ['no-keys'] })
    for (const own of ['localhost', 'app.localhost:3000', '127.0.0.1:8470', '[::1]'])
      expect(read(['--allowed-hosts', own])).toMatchObject({ insecure: [], keysFile: undefined })
  })

  it('S10: An empty name of the keys file is refused, by a variable, a flag and the file of settings', () => {
    const refusal = (source: string) => [`${source} is empty: give it a value, or leave it out.`]
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-access-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'counterstep.json')
    writeFileSync(path, '{ "keysFile": "" }', { mode: 0o600 })
    expect(read([], { COUNTERSTEP_KEYS_FILE: '' })).toEqual(refusal('COUNTERSTEP_KEYS_FILE'))
    expect(read(['--keys-file='])).toEqual([expect.stringMatching(/^--keys-file /)])
    expect(read(['--config', path])).toEqual(refusal(`"keysFile" in ${path}`))
    expect(read(['--config', path, '--keys-file', 'k'])).toMatchObject({ keysFile: 'k' })
    expect(read([], { COUNTERSTEP_ALLOWED_HOSTS: '' })).toMatchObject({ keysFile: undefined })
  })

  it('A setting that would have no effect, or contradicts another, is refused', () => {
    expect(read(['--keys-file', 'k', '--insecure-no-keys'])).toEqual([
      '--insecure-no-keys contradicts --keys-file.',
    ])
    expect(read(['--dtm-networks', '10.0.0.0/8'])).toEqual([
      '--dtm-networks is of use only with --keys-file.',
    ])
    expect(read(['--keys-file', 'k', '--dtm-networks-scopes', 'read'])).toEqual([
      '--dtm-networks-scopes is of use only with --dtm-networks.',
    ])
    expect(read(['--rate-per-key', '5'])).toEqual(['--rate-per-key is of use only with --keys-file.'])
    expect(read(['--daily-submits-per-key', '5', '--daily-bytes-per-key', '5'])).toEqual([
      '--daily-submits-per-key is of use only with --keys-file.',
      '--daily-bytes-per-key is of use only with --keys-file.',
    ])
  })

  it('The files of the gRPC API come together, with its port, and fit each other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'grpc-files-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const validity = { validFrom: new Date(0), validTo: new Date(1), address: '127.0.0.1' }
    const [one, other] = [selfSignedCertificate(validity), selfSignedCertificate(validity)]
    const [cert, key, otherKey, empty] = ['cert', 'key', 'other', 'empty'].map((name) => join(folder, name))
    await writeFile(cert ?? '', one.cert)
    await writeFile(key ?? '', one.key)
    await writeFile(otherKey ?? '', other.key)
    await writeFile(empty ?? '', '')
    const problems = (...args: readonly (string | undefined)[]) => read(args.map((each) => each ?? ''))
    const port = ['--dtm-grpc-port', '36790']
    expect(problems(...port, '--dtm-grpc-cert', cert)).toEqual([
      '--dtm-grpc-cert and --dtm-grpc-key must come together.',
    ])
    expect(problems('--dtm-grpc-cert', cert, '--dtm-grpc-key', key)).toEqual([
      '--dtm-grpc-cert is of use only with --dtm-grpc-port.',
    ])
    expect(problems(...port, '--dtm-grpc-cert', cert, '--dtm-grpc-key', otherKey)).toEqual([
      expect.stringContaining('cannot be used'),
    ])
    expect(problems(...port, '--dtm-grpc-cert', cert, '--dtm-grpc-key', empty)).toEqual([
      expect.stringContaining('--dtm-grpc-key'),
    ])
    expect(problems(...port, '--dtm-grpc-cert', cert, '--dtm-grpc-key', key)).toMatchObject({ insecure: [] })
  })

  it('S43: The flag --dtm-networks gives the scope submit alone, and more only by name', () => {
    const networks = ['--keys-file', 'k', '--dtm-networks', '10.0.0.0/8']
    expect(read(networks)).toMatchObject({ dtmNetworksScopes: ['submit'] })
    expect(read([...networks, '--dtm-networks-scopes', 'submit, read'])).toMatchObject({
      dtmNetworksScopes: ['submit', 'read'],
    })
  })

  const BAD = [
    ['dtm-networks', '10.0.0.0/33', 'must be networks'],
    ['dtm-networks', 'all', 'must be networks'],
    ['dtm-networks-scopes', 'all', 'must be scopes'],
    ['dtm-networks-scopes', 'submit,', 'must be scopes'],
    ['allowed-hosts', 'https://orders.example', 'without a scheme'],
    ['allowed-hosts', 'a,,b', 'host names'],
    ['allowed-hosts', '*', 'host names'],
    ['rate-per-key', '0', 'or "off"'],
    ['daily-submits-per-key', '0', 'or "off"'],
    ['daily-bytes-per-key', '1e9', 'or "off"'],
  ] as const
  for (const [flag, text, message] of BAD) {
    it(`The flag --${flag} refuses "${text}"`, () => {
      expect(read(['--keys-file', 'k', `--${flag}`, text])).toEqual([expect.stringContaining(message)])
    })
  }
})

describe('counterstep keys', () => {
  const keys = (...args: string[]) => readCommand(['keys', ...args], {})

  it('The command line of keys is read with all its options', () => {
    expect(
      keys(
        'create',
        '--keys-file',
        'f',
        '--name',
        'ci',
        '--scopes',
        'submit,read',
        '--expires-in-days',
        '90',
      ),
    ).toEqual({
      type: 'keys',
      command: { verb: 'create', path: 'f', name: 'ci', scopes: ['submit', 'read'], expiresInDays: 90 },
    })
    expect(keys('revoke', 'abcdefghjkmn', '--keys-file', 'f')).toEqual({
      type: 'keys',
      command: { verb: 'revoke', path: 'f', id: 'abcdefghjkmn' },
    })
    const listed = readCommand(['keys', 'list'], { COUNTERSTEP_KEYS_FILE: 'f' })
    expect(listed).toEqual({ type: 'keys', command: { verb: 'list', path: 'f' } })
  })

  it('S14: No scope stands for everything: each is named', () => {
    for (const scopes of ['*', 'all', '', 'submit,*', 'submit,', 'Submit']) {
      expect(keys('create', '--keys-file', 'f', '--name', 'ci', '--scopes', scopes)).toEqual({
        type: 'refused',
        problems: ['--scopes must be some of submit,read,payloads,signal,operate,admin.'],
      })
    }
  })

  const REFUSED: readonly (readonly string[])[] = [
    [],
    ['forge'],
    ['create'],
    ['create', '--keys-file', 'f', '--name', 'a b', '--scopes', 'read'],
    ['create', '--keys-file', 'f', '--name', 'a', '--scopes', 'read', '--expires-in-days', '0'],
    ['create', '--keys-file', 'f', '--name', 'a', '--scopes', 'read', 'cs_canary'],
    ['list', '--keys-file', 'f', '--name', 'canary'],
    ['list', '--keys-file', 'f', '--canary'],
    ['list'],
    ['revoke', '--keys-file', 'f'],
    ['revoke', 'cs_canary_canary', '--keys-file', 'f'],
  ]
  for (const args of REFUSED) {
    it(`The command line "keys ${args.join(' ')}" is refused without being quoted`, () => {
      const command = keys(...args)
      expect(command).toMatchObject({
        type: 'refused',
        problems: expect.arrayContaining([expect.any(String)]),
      })
      expect(JSON.stringify(command)).not.toContain('canary')
    })
  }
})
