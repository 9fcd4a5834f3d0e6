import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isForced, type ServerStoreConfig, type StoreConfig } from '@counterstep/configuration'
import { afterAll, describe, expect, it } from 'vitest'
import { type Command, readCommand } from '../src/config.ts'

type Environment = Readonly<Record<string, string>>

const CANARY = 'canary-3141592'
const MYSQL = 'mysql://u@db/x'
const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'

const folder = mkdtempSync(join(tmpdir(), 'counterstep-store-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function readStoreConfig(args: readonly string[], environment: Environment = {}): StoreConfig {
  const command = readCommand(['serve', ...args], environment)
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  return command.config.store
}

function readServerStore(args: readonly string[], environment: Environment = {}): ServerStoreConfig {
  const store = readStoreConfig(args, environment)
  if (store.type === 'sqlite') throw new Error('the embedded store')
  return store
}

function readProblems(args: readonly string[], environment: Environment = {}): readonly string[] {
  const command = readCommand(['serve', ...args], environment)
  return command.type === 'refused' ? command.problems : []
}

describe('--store', () => {
  const ACCEPTED = [
    ['mysql://u:p@db:3307/x', 'mysql', 'mysql://u:p@db:3307/x', 'mysql://u@db:3307/x'],
    ['MariaDB://u@db/x', 'mysql', 'mariadb://u@db/x', 'mariadb://u@db/x'],
    ['mysql://u:@db/x', 'mysql', 'mysql://u@db/x', 'mysql://u@db/x'],
    [
      'mysql://u:a%40b%2Fc@[::1]:3306/x_1-$',
      'mysql',
      'mysql://u:a%40b%2Fc@[::1]:3306/x_1-$',
      'mysql://u@[::1]:3306/x_1-$',
    ],
    ['mysql://u:a@b@db/x', 'mysql', 'mysql://u:a%40b@db/x', 'mysql://u@db/x'],
    ['mysql://u%40corp:p@db/x', 'mysql', 'mysql://u%40corp:p@db/x', 'mysql://u%40corp@db/x'],
    ['postgres://u:p@db:5433/x', 'postgres', 'postgres://u:p@db:5433/x', 'postgres://u@db:5433/x'],
    ['PostgreSQL://u@db/x', 'postgres', 'postgresql://u@db/x', 'postgresql://u@db/x'],
    ['redis://cache', 'redis', 'redis://cache', 'redis://cache'],
    ['redis://:p@cache:6380/3', 'redis', 'redis://:p@cache:6380/3', 'redis://cache:6380/3'],
    ['rediss://u:p@cache/', 'redis', 'rediss://u:p@cache', 'rediss://u@cache'],
    [
      'redis-cluster://:p@a:1,b:2,[::1]:3',
      'redis',
      'redis-cluster://:p@a:1,b:2,[::1]:3',
      'redis-cluster://a:1,b:2,[::1]:3',
    ],
    ['rediss-cluster://a', 'redis', 'rediss-cluster://a', 'rediss-cluster://a'],
  ] as const
  for (const [text, type, url, place] of ACCEPTED) {
    it(`The setting --store takes ${text}, as a flag and from the environment`, () => {
      expect(readStoreConfig(['--store', text])).toMatchObject({ type, url, place })
      expect(readStoreConfig([], { COUNTERSTEP_STORE: text })).toMatchObject({ type, url, place })
    })
  }

  // Each of these has the canary in place of a password, or where one lands that was not percent-encoded.
  const REFUSED = [
    [`oracle://u:${CANARY}@db/x`, 'mysql://, mariadb://'],
    [`postgres://u:${CANARY}@db`, '/DATABASE'],
    [`postgresql://:${CANARY}@db/x`, 'no user'],
    [`mysql:u:${CANARY}@db/x`, '//'],
    [`mysql://${CANARY}:1234`, 'no user'],
    [`mysql://u:${CANARY}@db`, '/DATABASE'],
    [`mysql://u:${CANARY}@db/`, '/DATABASE'],
    [`mysql://u:1234/${CANARY}@db/x`, '%2F'],
    [`mysql://u:1234/${CANARY}`, 'no user'],
    [`mysql://u:1234#${CANARY}@db/x`, 'percent-encoded'],
    [`mysql://u:1234?${CANARY}@db/x`, 'percent-encoded'],
    [`mysql://u:12 34${CANARY}@db/x`, 'percent-encoded'],
    [`mysql://u:${CANARY}%zz@db/x`, '%25'],
    [`mysql://:${CANARY}@db/x`, 'no user'],
    [`mysql://u:${CANARY}@/x`, 'host'],
    [`mysql://u:${CANARY}@db:0/x`, 'host:port'],
    [`mysql://u:${CANARY}@db:65536/x`, 'host:port'],
    [`mysql://u:${CANARY}@a,b/x`, 'several hosts'],
    [`mysql://u:${CANARY}@db/x?ssl=true`, 'parameters have options'],
    [`redis://:${CANARY}@a,b`, 'several hosts'],
    [`redis://:${CANARY}@a/x`, '/NUMBER'],
    [`redis://${CANARY}@a`, 'redis://:PASSWORD@HOST'],
    [`redis-cluster://:${CANARY}@a,b/0`, 'only one'],
    [`redis-cluster://:${CANARY}@a,,b`, 'host'],
  ] as const
  for (const [text, message] of REFUSED) {
    it(`The setting --store refuses ${text.replace(CANARY, '…')} without quoting it`, () => {
      for (const problems of [
        readProblems(['--store', text]),
        readProblems([], { COUNTERSTEP_STORE: text }),
      ]) {
        expect(problems).toHaveLength(1)
        expect(problems[0]).toMatch(/^(--store|COUNTERSTEP_STORE) .*\.$/)
        expect(problems[0]).toContain(message)
        expect(problems[0]).not.toContain(CANARY)
      }
    })
  }

  it('A password in a wrong place is not quoted either', () => {
    const lines = [
      [`mysql://u:${CANARY}@db/x`],
      ['serve', `mysql://u:${CANARY}@db/x`],
      ['serve', '--store-password', CANARY],
      ['--store-password', CANARY, 'serve'],
      ['serve', `--store-password=${CANARY}`],
      ['serve', `--stor=mysql://u:${CANARY}@db/x`],
      ['serve', `-p${CANARY}`],
      ['serve', `--ready-json=${CANARY}`],
      ['serve', `--lease-ms=${CANARY}`],
    ]
    for (const args of lines) {
      const command: Command = readCommand(args, {})
      expect(command.type).toBe('refused')
      expect(JSON.stringify(command)).not.toContain(CANARY)
    }
  })
})

describe('the password', () => {
  const args = ['--store', MYSQL]
  const wanted = { url: `mysql://u:${CANARY}%25%3A%2F@db/x`, place: MYSQL }
  const password = `${CANARY}%:/`

  it('The password comes from its variable, and needs no encoding there', () => {
    expect(readStoreConfig(args, { COUNTERSTEP_STORE_PASSWORD: password })).toMatchObject(wanted)
  })

  it('The password comes from a file, whose last line break does not belong to it', () => {
    for (const end of ['', '\n', '\r\n']) {
      const path = fileWith('password', `${password}${end}`)
      expect(readStoreConfig(args, { COUNTERSTEP_STORE_PASSWORD_FILE: path })).toMatchObject(wanted)
    }
  })

  it('The password is not taken from an empty variable', () => {
    const environment = { COUNTERSTEP_STORE_PASSWORD: '', COUNTERSTEP_STORE_PASSWORD_FILE: '' }
    expect(readStoreConfig(args, environment)).toMatchObject({ url: MYSQL })
    expect(readStoreConfig([], environment)).toMatchObject({ type: 'sqlite' })
  })

  it('The password belongs to the user of a Redis URL, if there is one', () => {
    const environment = { COUNTERSTEP_STORE_PASSWORD: 'p' }
    expect(readStoreConfig(['--store', 'redis://u@a'], environment)).toMatchObject({ url: 'redis://u:p@a' })
    expect(readStoreConfig(['--store', 'redis://a'], environment)).toMatchObject({ url: 'redis://:p@a' })
  })

  const file = () => fileWith('secret', CANARY)
  const REFUSED: readonly (readonly [string, readonly string[], () => Environment, string])[] = [
    [
      'given twice',
      args,
      () => ({ COUNTERSTEP_STORE_PASSWORD: CANARY, COUNTERSTEP_STORE_PASSWORD_FILE: file() }),
      'COUNTERSTEP_STORE_PASSWORD and COUNTERSTEP_STORE_PASSWORD_FILE are both set; set one.',
    ],
    [
      'in the URL and beside it',
      ['--store', `mysql://u:${CANARY}@db/x`],
      () => ({ COUNTERSTEP_STORE_PASSWORD_FILE: file() }),
      '--store has a password, and COUNTERSTEP_STORE_PASSWORD_FILE is set, too; give one.',
    ],
    [
      'in a file that does not exist',
      args,
      () => ({ COUNTERSTEP_STORE_PASSWORD_FILE: join(folder, 'none') }),
      'COUNTERSTEP_STORE_PASSWORD_FILE names a file that cannot be read (ENOENT).',
    ],
    [
      'in an empty file',
      args,
      () => ({ COUNTERSTEP_STORE_PASSWORD_FILE: fileWith('empty', '\n') }),
      'COUNTERSTEP_STORE_PASSWORD_FILE names an empty file.',
    ],
    [
      'for the embedded store',
      [],
      () => ({ COUNTERSTEP_STORE_PASSWORD: CANARY }),
      'COUNTERSTEP_STORE_PASSWORD is set, and a sqlite store has no password.',
    ],
  ]
  for (const [title, given, environment, problem] of REFUSED) {
    it(`A password is refused that is ${title}`, () => {
      expect(readProblems(given, environment())).toEqual([problem])
    })
  }

  it('S37: A store without TLS is warned of beyond this machine, and not on it', () => {
    const readWarnings = (store: string) => readCommand(['serve', '--store', store, '--store-tls', 'off'], {})
    const inClear = { config: { warnings: [expect.stringContaining('--store-tls is off')] } }
    for (const host of ['db.internal:3306', '10.0.0.1', '[fd00::1]:3306'])
      expect(readWarnings(`mysql://u@${host}/x`)).toMatchObject(inClear)
    expect(readWarnings('redis-cluster://127.0.0.1:1,b.internal:2')).toMatchObject(inClear)
    for (const host of ['127.0.0.1:3306', 'localhost', '[::1]:3306'])
      expect(readWarnings(`mysql://u@${host}/x`)).toMatchObject({ config: { warnings: [] } })
  })

  it('A password in a flag is warned of, and one in the environment is not', () => {
    const url = `mysql://u:${CANARY}@db/x`
    const inFlag = readCommand(['serve', '--store', url], {})
    expect(inFlag).toMatchObject({ config: { warnings: [expect.stringContaining('list of processes')] } })
    expect(readCommand(['serve'], { COUNTERSTEP_STORE: url })).toMatchObject({ config: { warnings: [] } })
  })
})

describe('a setting of one kind of store', () => {
  const IN_VAIN = [
    [
      ['--store', MYSQL, '--sqlite-synchronous', 'full'],
      '--sqlite-synchronous is for sqlite, and the store is mysql.',
    ],
    [['--store', MYSQL, '--data', 'x'], '--data is for sqlite, and the store is mysql.'],
    [
      ['--store', 'redis://a', '--store-connections-max', '5'],
      '--store-connections-max is for mysql and postgres, and the store is redis.',
    ],
    [
      ['--store', 'redis://a', '--store-proxy', 'on'],
      '--store-proxy is for mysql and postgres, and the store is redis.',
    ],
    [
      ['--store', MYSQL, '--store-durability', 'a'],
      '--store-durability is for redis, and the store is mysql.',
    ],
    [
      ['--store', MYSQL, '--store-key-prefix', 'x'],
      '--store-key-prefix is for redis, and the store is mysql.',
    ],
    [['--store-tls', 'required'], '--store-tls is for mysql, postgres and redis, and the store is sqlite.'],
    [
      ['--store-failover', 'lossy'],
      '--store-failover is for mysql, postgres and redis, and the store is sqlite.',
    ],
    [
      ['--store-accept-class-c'],
      '--store-accept-class-c is for mysql, postgres and redis, and the store is sqlite.',
    ],
    [['--store-wait-ms', '1'], '--store-wait-ms is for mysql, postgres and redis, and the store is sqlite.'],
  ] as const
  for (const [args, problem] of IN_VAIN) {
    it(`A setting of one kind of store is refused for another: ${args.join(' ')}`, () => {
      expect(readProblems(args)).toEqual([problem])
    })
  }

  it('A setting of another store that came from a variable is named by that variable', () => {
    expect(readProblems([], { COUNTERSTEP_STORE_TLS: 'off', COUNTERSTEP_STORE_TLS_CA: '' })).toEqual([
      'COUNTERSTEP_STORE_TLS is for mysql, postgres and redis, and the store is sqlite.',
    ])
  })

  it('A setting of another store is named together with everything else that is wrong', () => {
    const problems = readProblems(['--store', MYSQL, '--data', 'x', '--store-tls', 'maybe', '--port', 'x'], {
      COUNTERSTEP_STORE_PASSWORD_FILE: join(folder, 'none'),
    })
    for (const name of ['--data', '--store-tls', '--port', 'COUNTERSTEP_STORE_PASSWORD_FILE']) {
      expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1)
    }
    expect(problems).toHaveLength(4)
  })
})

describe('TLS to the store', () => {
  const ca = fileWith('ca.pem', PEM)

  it("TLS to a store is as its URL wants it, or as the option says, with the operator's own certificates", () => {
    const REQUIRED = ['--store-tls', 'required']
    expect(readServerStore(['--store', MYSQL])).not.toHaveProperty('tls')
    expect(readServerStore(['--store', 'rediss-cluster://a'])).not.toHaveProperty('tls')
    expect(readServerStore(['--store', MYSQL, '--store-tls', 'off']).tls).toBe('off')
    expect(readServerStore(['--store', MYSQL, ...REQUIRED]).tls).toBe('required')
    expect(readServerStore(['--store', 'redis://:p@a', ...REQUIRED])).toMatchObject({
      url: 'rediss://:p@a',
      place: 'rediss://a',
    })
    expect(readServerStore(['--store', 'redis-cluster://a,b', '--store-tls-ca', ca])).toMatchObject({
      url: 'rediss-cluster://a,b',
      tls: { ca: PEM },
    })
    expect(readServerStore(['--store', MYSQL, '--store-tls-ca', ca]).tls).toEqual({ ca: PEM })
    const named = ['--store-tls-server-name', 'db.internal']
    expect(readServerStore(['--store', 'mysql://u@10.1.2.3/c', ...named]).tls).toEqual({
      serverName: 'db.internal',
    })
    expect(readServerStore(['--store', 'mysql://u@127.0.0.1/c'])).not.toHaveProperty('tls')
    expect(readServerStore(['--store', 'mysql://u@10.1.2.3/c', '--store-tls', 'off']).tls).toBe('off')
    expect(readServerStore(['--store', 'rediss://a', ...REQUIRED, '--store-tls-ca', ca]).tls).toEqual({
      ca: PEM,
    })
  })

  const NAMELESS =
    '--store has an address, and the certificate is checked against a name: ' +
    'give --store-tls-server-name, or a URL with a name, or --store-tls off.'
  const REFUSED = [
    [['--store', 'rediss://a', '--store-tls', 'off'], '--store-tls is off, and rediss:// means TLS.'],
    [
      ['--store', MYSQL, '--store-tls-ca', ca, '--store-tls', 'off'],
      '--store-tls is off, and --store-tls-ca is set.',
    ],
    [['--store', 'mysql://u@10.1.2.3/c'], NAMELESS],
    [['--store', 'mysql://u@[::1]/c', '--store-tls', 'required'], NAMELESS],
    [
      ['--store', MYSQL, '--store-tls-server-name', '10.1.2.3'],
      '--store-tls-server-name must be a host name.',
    ],
    [
      ['--store', 'rediss://a', '--store-tls-ca', join(folder, 'none.pem')],
      '--store-tls-ca names a file that cannot be read (ENOENT).',
    ],
    [
      ['--store', 'rediss://a', '--store-tls-ca', fileWith('key.pem', 'x')],
      '--store-tls-ca names a file without a certificate in PEM.',
    ],
  ] as const
  for (const [args, problem] of REFUSED) {
    it(`A TLS setting is refused: ${problem}`, () => expect(readProblems(args)).toEqual([problem]))
  }
})

describe('a store that is a server', () => {
  it('A MySQL or Redis store must be class A or B without a switch, has the failover that is found, and is waited for', () => {
    expect(readServerStore(['--store', MYSQL])).toEqual({
      type: 'mysql',
      url: MYSQL,
      place: MYSQL,
      acceptClassC: false,
      keyPrefix: 'counterstep',
      connectionsMax: 10,
      multiplexed: false,
      connectTimeoutMs: 2_000,
      timeoutMs: 3_000,
      waitMs: 30_000,
    })
  })

  it('A server may share a Redis under a prefix, which cannot break the keys', () => {
    const args = ['--store', 'redis://a', '--store-key-prefix']
    expect(readServerStore([...args, 'shop:eu-1'])).toMatchObject({ keyPrefix: 'shop:eu-1' })
    for (const prefix of ['a{b}', 'a b', 'x'.repeat(65)]) {
      expect(readProblems([...args, prefix])).toEqual([
        '--store-key-prefix must be 1 to 64 letters, digits, _, :, . and -.',
      ])
    }
  })

  it('The operator may tell the class of a Redis', () => {
    const args = ['--store', 'redis://a', '--store-durability']
    expect(readServerStore([...args, 'a'])).toMatchObject({ durability: 'A' })
    expect(readServerStore([...args, 'b'])).toMatchObject({ durability: 'B' })
    expect(readServerStore(['--store', 'redis://a'])).not.toHaveProperty('durability')
    expect(readProblems([...args, 'c'])).toEqual(['--store-durability must be one of a, b.'])
  })

  it('A MySQL store takes every setting', () => {
    const settings = {
      'store-failover': 'lossy',
      'store-connections-max': '7',
      'store-proxy': 'on',
      'store-connect-timeout-ms': '800',
      'store-timeout-ms': '900',
      'store-wait-ms': '0',
    }
    const args = Object.entries(settings).flatMap(([flag, value]) => [`--${flag}`, value])
    expect(readServerStore(['--store', MYSQL, ...args])).toMatchObject({
      failover: 'lossy',
      connectionsMax: 7,
      multiplexed: true,
      connectTimeoutMs: 800,
      timeoutMs: 900,
      waitMs: 0,
    })
  })

  it('A class C store is forced by a switch of that name only, with a warning', () => {
    const forced = [
      readCommand(['serve', '--store', MYSQL, '--store-accept-class-c'], {}),
      readCommand(['serve', '--store', MYSQL], { COUNTERSTEP_STORE_ACCEPT_CLASS_C: 'true' }),
    ]
    for (const command of forced) {
      if (command.type !== 'serve') throw new Error(JSON.stringify(command))
      expect(isForced(command.config.store)).toBe(true)
      expect(command.config.warnings).toEqual([expect.stringMatching(/CLASS.C is on/i)])
    }
    expect(isForced(readStoreConfig(['--store', MYSQL, '--store-accept-class-c=false']))).toBe(false)
    expect(isForced(readStoreConfig([]))).toBe(false)
    expect(readProblems(['--store', MYSQL, '--store-accept-class-c=yes'])).toEqual([
      '--store-accept-class-c must be true or false.',
    ])
  })
})

describe('counterstep migrate', () => {
  const readMigration = (args: readonly string[], environment: Environment = {}) =>
    readCommand(['migrate', ...args], environment)

  it('The command migrate takes the store and how to reach it', () => {
    const args = ['--store', MYSQL, '--store-tls', 'required', '--store-wait-ms', '5']
    expect(readMigration(args, { COUNTERSTEP_STORE_PASSWORD: 'p' })).toEqual({
      type: 'migrate',
      config: { type: 'mysql', url: 'mysql://u:p@db/x', place: MYSQL, tls: 'required', waitMs: 5 },
    })
  })

  it('The command migrate takes any store, and ignores variables of serve', () => {
    expect(readMigration([])).toEqual({ type: 'migrate', config: { type: 'sqlite' } })
    const environment = { COUNTERSTEP_PORT: 'x', COUNTERSTEP_STORE: 'redis://a', COUNTERSTEP_DATA: 'y' }
    expect(readMigration([], environment)).toMatchObject({ config: { type: 'redis' } })
  })

  it('A wrong command line of migrate is refused with all its problems at once', () => {
    const environment = { COUNTERSTEP_STORE: 'mysql://db/x', COUNTERSTEP_STORE_WAIT_MS: '-1' }
    expect(readMigration(['--lease-ms', '1'], environment)).toEqual({
      type: 'refused',
      problems: [
        '--lease-ms is no option of migrate; see migrate --help.',
        'COUNTERSTEP_STORE names no user.',
        'COUNTERSTEP_STORE_WAIT_MS must be a whole number from 0 to 3600000.',
      ],
    })
  })
})
