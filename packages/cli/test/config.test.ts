import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { SETTINGS, type SqliteConfig, toFlag } from '@counterstep/configuration'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand, type ServeConfig } from '../src/config.ts'
import { writeHelp } from '../src/help-text.ts'

type Environment = Readonly<Record<string, string>>

function readConfig(args: readonly string[], environment: Environment = {}): ServeConfig {
  const command = readCommand(['serve', ...args], environment)
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  return command.config
}

function toSqlite({ store }: ServeConfig): SqliteConfig {
  if (store.type !== 'sqlite') throw new Error(store.type)
  return store
}

function readProblems(args: readonly string[], environment: Environment = {}): readonly string[] {
  const command = readCommand(args, environment)
  return command.type === 'refused' ? command.problems : []
}

describe('the configuration without any setting', () => {
  const config = readConfig([])

  it('A server without settings listens on loopback, keeps its data in .data, and is class A', () => {
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8470, logLevel: 'info', readyJson: false })
    const path = resolve('.data/counterstep.db')
    expect(config.store).toEqual({
      type: 'sqlite',
      path,
      place: path,
      synchronous: 'FULL',
      freeBytesMin: 268_435_456,
      waitMs: 0,
    })
    expect(config.warnings).toEqual([])
  })

  it("A server without settings runs the engine on the engine's own defaults", () => {
    expect(config.engine).toEqual(DEFAULT_SETTINGS)
  })

  it('The whole configuration is frozen', () => {
    for (const part of [config, config.store, config.engine, config.engine.retry, config.warnings]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })
})

describe('the port of DTM', () => {
  const PORTS = [
    [[], 36_789],
    [['--port', '8471'], 36_789],
    [['--port', '0'], 'off'],
    [['--port', '0', '--dtm-port', '0'], 0],
    [['--port', '0', '--dtm-port', '36789'], 36_789],
    [['--dtm-port', 'off'], 'off'],
  ] as const
  for (const [args, expected] of PORTS) {
    it(`The port of DTM is ${expected} with ${args.join(' ') || 'no option'}`, () => {
      expect(readConfig(args).dtmPort).toBe(expected)
    })
  }
})

describe('a setting', () => {
  const ACCEPTED: readonly (readonly [string, string, (config: ServeConfig) => unknown, unknown])[] = [
    ['port', '0', (config) => config.port, 0],
    ['dtm-port', '0', (config) => config.dtmPort, 0],
    ['dtm-port', 'off', (config) => config.dtmPort, 'off'],
    ['dtm-grpc-port', 'off', (config) => config.dtmGrpc, undefined],
    ['dtm-grpc-port', '36790', (config) => config.dtmGrpc?.port, 36_790],
    ['host', '::1', (config) => config.host, '::1'],
    ['data', '/var/lib/x', (config) => config.store.place, resolve('/var/lib/x/counterstep.db')],
    ['store', '/var/lib/a.db', (config) => config.store.place, resolve('/var/lib/a.db')],
    ['store', 'sqlite:/var/lib/a.db', (config) => config.store.place, resolve('/var/lib/a.db')],
    ['store', 'sqlite:///var/lib/a.db', (config) => config.store.place, resolve('/var/lib/a.db')],
    ['store', 'sqlite:a.db', (config) => config.store.place, resolve('a.db')],
    ['sqlite-synchronous', 'normal', (config) => toSqlite(config).synchronous, 'NORMAL'],
    ['sqlite-free-bytes-min', '0', (config) => toSqlite(config).freeBytesMin, 0],
    ['scans-at-once-max', '3', (config) => config.engine.scansAtOnceMax, 3],
    ['reads-at-once-max', '30', (config) => config.engine.readsAtOnceMax, 30],
    ['reads-waiting-max', '300', (config) => config.engine.readsWaitingMax, 300],
    ['live-max', '0', (config) => config.live.streamsMax, 0],
    ['read-wait-ms', '300', (config) => config.engine.readWaitMs, 300],
    ['log-level', 'silent', (config) => config.logLevel, 'silent'],
    ['retention-ms', 'never', (config) => config.engine.retentionMs, 'never'],
    ['retention-ms', '60000', (config) => config.engine.retentionMs, 60_000],
    ['checkpoint-ms', '0', (config) => config.engine.checkpointMs, 0],
    ['lease-ms', '3000', (config) => config.engine.leaseMs, 3_000],
    ['retry-limit', 'none', (config) => config.engine.retry.limit, null],
    ['retry-limit', '5', (config) => config.engine.retry.limit, 5],
    ['retry-factor', '1.5', (config) => config.engine.retry.factor, 1.5],
    ['in-flight-max', '7', (config) => config.engine.inFlightMax, 7],
    ['target-share', '1', (config) => config.engine.targetShare, 1],
    ['target-share', '0.05', (config) => config.engine.targetShare, 0.05],
    ['target-calls-per-second', 'off', (config) => config.engine.targetCallsPerSecond, null],
    ['target-calls-per-second', '100', (config) => config.engine.targetCallsPerSecond, 100],
    ['timeout-ms-max', '30000', (config) => config.engine.timeoutMsMax, 30_000],
    ['retry-floor-ms', '2000', (config) => config.engine.retryFloorMs, 2_000],
    ['park-after-ms', '3600000', (config) => config.engine.parkAfterMs, 3_600_000],
    ['park-after-ms', 'never', (config) => config.engine.parkAfterMs, 'never'],
  ]
  for (const [flag, text, read, expected] of ACCEPTED) {
    it(`The setting --${flag} takes ${text}, as a flag and from the environment`, () => {
      expect(read(readConfig([`--${flag}`, text]))).toBe(expected)
      const variable = `COUNTERSTEP_${flag.toUpperCase().replaceAll('-', '_')}`
      expect(read(readConfig([], { [variable]: text }))).toBe(expected)
    })
  }

  it('New kinds are accepted only by the switch --accept-new-kinds or its variable', () => {
    const accepts = (...given: Parameters<typeof readConfig>) => readConfig(...given).engine.acceptNewKinds
    expect(accepts([])).toBe(false)
    expect(accepts(['--accept-new-kinds'])).toBe(true)
    expect(accepts([], { COUNTERSTEP_ACCEPT_NEW_KINDS: 'true' })).toBe(true)
  })

  const REFUSED = [
    ['port', '65536', 'from 0 to 65535'],
    ['port', '-1', 'from 0 to 65535'],
    ['port', '8e3', 'whole number'],
    ['port', '', 'is empty'],
    ['port', 'tcp://10.0.0.1:8470', 'Kubernetes'],
    ['dtm-port', 'x', 'or "off"'],
    ['host', ' ', 'must not be empty'],
    ['store', 'sqlite:', 'names no file'],
    ['store', ':memory:', 'forgets'],
    ['store', 'sqlite://host/a.db', 'no host'],
    ['store', 'sqlite:a.db?mode=ro', 'no parameters'],
    ['sqlite-synchronous', 'off', 'one of full, normal'],
    ['sqlite-free-bytes-min', '1k', 'whole number'],
    ['live-max', '100001', 'from 0 to 100000'],
    ['read-wait-ms', '9000', 'from 1 to 8000'],
    ['log-level', 'loud', 'one of error'],
    ['retention-ms', '59999', 'or "never"'],
    ['lease-ms', '10', 'from 1000'],
    ['retry-factor', '0.5', 'from 1'],
    ['retry-jitter', '2', 'from 0 to 1'],
    ['retry-limit', '0', 'or "none"'],
    ['claim-limit', '101', 'from 1 to 100'],
    ['target-share', '0', 'from 0.05 to 1'],
    ['target-calls-per-second', '0', 'or "off"'],
    ['timeout-ms-max', '900001', 'from 10000 to 900000'],
    ['timeout-ms-max', '9999', 'from 10000 to 900000'],
    ['retry-floor-ms', '999', 'from 1000'],
    ['park-after-ms', '59999', 'or "never"'],
  ] as const
  for (const [flag, text, message] of REFUSED) {
    it(`The setting --${flag} refuses "${text}"`, () => {
      const problems = readProblems(['serve', `--${flag}=${text}`])
      expect(problems).toHaveLength(1)
      expect(problems[0]).toContain(`--${flag} `)
      expect(problems[0]).toContain(message)
    })
  }

  it('A flag wins over its variable', () => {
    expect(readConfig(['--port', '1'], { COUNTERSTEP_PORT: '2' }).port).toBe(1)
  })

  it('An empty variable sets nothing', () => {
    expect(readConfig([], { COUNTERSTEP_PORT: '', COUNTERSTEP_STORE_ACCEPT_CLASS_C: '' }).port).toBe(8470)
  })

  it('A wrong setting in the environment is named by its variable', () => {
    expect(readProblems(['serve'], { COUNTERSTEP_PORT: 'x' })[0]).toMatch(/^COUNTERSTEP_PORT /)
  })
})

describe('the command line', () => {
  it('A wrong command line is refused with all its problems at once', () => {
    const args = [
      'fly',
      'away',
      '--port',
      'x',
      '--speed',
      '9',
      '--retry-initial-ms',
      '2000',
      '--retry-cap-ms',
      '1000',
    ]
    const problems = readProblems(args, { COUNTERSTEP_LEASE_MS: '1', COUNTERSTEP_LOG_LEVEL: 'loud' })
    for (const name of [
      'The first word is no command; there is serve, dev, migrate, keys, signal, signing-key, alerts, dtm-check, tx, problems, services, overview, names, panels, panel, bulk.',
      '--port',
      '--speed',
      '--retry-cap-ms',
      'COUNTERSTEP_LEASE_MS',
      'COUNTERSTEP_LOG_LEVEL',
    ]) {
      expect(problems.some((problem) => problem.includes(name))).toBe(true)
    }
    expect(problems).toHaveLength(6)
  })

  it('A command line without a command is refused', () => {
    expect(readProblems([])).toEqual([
      'Say what to do: counterstep serve, or counterstep dev, or counterstep migrate, or counterstep keys, or counterstep signal, or counterstep signing-key, or counterstep alerts, or counterstep dtm-check, or counterstep tx, or counterstep problems, or counterstep services, or counterstep overview, or counterstep names, or counterstep panels, or counterstep panel, or counterstep bulk.',
    ])
  })

  it('An option without its value is refused', () => {
    expect(readProblems(['serve', '--port'])).toEqual(['--port needs a value.'])
  })

  it('There are no short options', () => {
    expect(readProblems(['serve', '-abc'])).toEqual(['Options start with two dashes; see --help.'])
  })

  it('The command migrate takes none of the options of serve', () => {
    expect(readProblems(['migrate', '--port', '1'])).toEqual([
      '--port is no option of migrate; see migrate --help.',
    ])
    expect(readProblems(['migrate', '--ready-json'])).toEqual([
      '--ready-json is no option of migrate; see migrate --help.',
    ])
  })

  it('The help and the version are shown even where something else is wrong', () => {
    expect(readCommand(['--help'], { COUNTERSTEP_PORT: 'x' })).toEqual({ type: 'help', command: 'serve' })
    expect(readCommand(['migrate', '--help'], {})).toEqual({ type: 'help', command: 'migrate' })
    expect(readCommand(['--version'], {})).toEqual({ type: 'version' })
  })

  it('The flag --ready-json turns on the line of JSON for test harnesses', () => {
    expect(readConfig(['--ready-json']).readyJson).toBe(true)
  })
})

describe('a configuration that is odd', () => {
  it('S10: A server may listen beyond loopback without keys when a flag says so, with a warning', () => {
    const open = readConfig([
      '--host',
      '0.0.0.0',
      '--insecure-no-keys',
      '--services',
      'bank=http://10.0.0.5:8080',
    ])
    expect(open.warnings).toEqual([
      expect.stringMatching(/^--insecure-no-keys: anyone who reaches 0\.0\.0\.0/),
      expect.stringMatching(/^--insecure-no-keys without --allowed-hosts: /),
    ])
    expect(open.access.insecure).toEqual(['no-keys'])
    const near = readConfig(['--host', '127.0.0.2', '--insecure-no-keys'])
    expect([near.warnings, near.access.insecure]).toEqual([[], []])
  })

  it('A server is warned of callers without a key beyond loopback where any Host is accepted', () => {
    const beyond = ['--host', '0.0.0.0', '--services', 'bank=http://10.0.0.5:8080']
    const networks = ['--keys-file', 'k', '--dtm-networks', '10.0.0.0/8']
    const named = ['--allowed-hosts', 'orders.example']
    expect(readConfig([...beyond, ...networks]).warnings).toEqual([
      expect.stringMatching(/^--dtm-networks without --allowed-hosts: .*Host/),
    ])
    expect(readConfig([...beyond, ...networks, ...named]).warnings).toEqual([])
    const scopes = ['--dtm-networks-scopes', 'submit,read,admin']
    expect(readConfig([...beyond, ...networks, ...named, ...scopes]).warnings).toEqual([
      expect.stringMatching(/^--dtm-networks-scopes: .* the scopes read, admin\.$/),
    ])
    expect(readConfig([...beyond, '--insecure-no-keys', ...named]).warnings).toHaveLength(1)
    expect(readConfig([...beyond, '--keys-file', 'k']).warnings).toEqual([])
    expect(readConfig(networks).warnings).toEqual([])
  })

  it('S20: A retention under a day and an hour is warned of, because barriers cannot tell a reused gid then', () => {
    const readWarnings = (retention: string) => readConfig(['--retention-ms', retention]).warnings
    const short = [expect.stringContaining('--retention-ms (89999999) is under 90000000 (25 hours)')]
    expect(readWarnings('89999999')).toEqual(short)
    expect([readWarnings('90000000'), readWarnings('never'), readConfig([]).warnings]).toEqual([[], [], []])
  })

  it('A variable that is no setting is warned of', () => {
    const { warnings } = readConfig([], { COUNTERSTEP_RETENTON_MS: '1', PATH: '/bin' })
    expect(warnings).toEqual(['COUNTERSTEP_RETENTON_MS is no setting and was ignored.'])
  })

  it('The embedded store is refused on Lambda, where the disk is lost', () => {
    expect(readProblems(['serve'], { AWS_LAMBDA_FUNCTION_NAME: 'f' })[0]).toContain('Lambda')
  })

  it('Another store is accepted on Lambda', () => {
    const environment = { AWS_LAMBDA_FUNCTION_NAME: 'f', COUNTERSTEP_STORE: 'mysql://u@db/x' }
    expect(readProblems(['serve'], environment)).toEqual([])
  })

  it('A server that polls less often than its leases end is refused', () => {
    expect(readProblems(['serve', '--poll-ms', '2000', '--lease-ms', '1000'])).toHaveLength(1)
  })
})

describe('a file of settings', () => {
  const PAGE = join(import.meta.dirname, '../../../docs/guides/deploy-docker.md')
  const [, example = ''] = /```json\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8')) ?? []
  const fileWith = (text: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'counterstep.json'), text)
    return join(folder, 'counterstep.json')
  }

  it("The guide's file of settings is read by the option and by the variable", () => {
    const path = fileWith(example)
    for (const config of [readConfig(['--config', path]), readConfig([], { COUNTERSTEP_CONFIG: path })]) {
      const { access, targets, engine, logLevel, warnings } = config
      expect({ ...access, engine, targets, logLevel, warnings }).toMatchObject({
        keysFile: '/data/keys.json',
        allowedHosts: ['orders.example'],
        targets: { services: [{ name: 'bank' }, { name: 'shop' }] },
        engine: { retentionMs: 14 * 24 * 3_600_000 },
        logLevel: 'warn',
        warnings: [],
      })
    }
  })

  it('A wrong file of settings is refused together with all else that is wrong', () => {
    const path = fileWith('{ "port": 70000, "retentonMs": 1, "pollMs": 2000, "leaseMs": 1000 }')
    expect(readProblems(['serve', '--config', path, '--log-level', 'loud'])).toEqual([
      `"retentonMs" in ${path} is no setting; did you mean "retentionMs"?`,
      `"port" in ${path} must be a whole number from 0 to 65535.`,
      expect.stringMatching(/^--log-level must be one of /),
      '--poll-ms (2000) must not be over --lease-ms (1000).',
    ])
    expect(readProblems(['serve'], { COUNTERSTEP_CONFIG: '/none' })).toEqual([
      'COUNTERSTEP_CONFIG names a file that cannot be read (ENOENT).',
    ])
  })
})

describe('the help text', () => {
  it('The help text names every setting, and the variables of the password', () => {
    for (const name of Object.keys(SETTINGS)) expect(writeHelp('serve')).toContain(`--${toFlag(name)} `)
    for (const command of ['serve', 'migrate'] as const) {
      expect(writeHelp(command)).toContain('COUNTERSTEP_STORE_PASSWORD,')
      expect(writeHelp(command)).toContain('COUNTERSTEP_STORE_PASSWORD_FILE')
    }
  })

  it('The help text of migrate names what migrate takes, and nothing else', () => {
    const flags = [...writeHelp('migrate').matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag]) => flag)
    expect(flags).toEqual([
      'store',
      'store-tls',
      'store-tls-ca',
      'store-tls-server-name',
      'store-wait-ms',
      'config',
      'help',
      'version',
    ])
  })
})
