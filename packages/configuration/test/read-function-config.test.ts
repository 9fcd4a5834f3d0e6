import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_CALLER_LIMITS } from '@counterstep/branch-http'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { afterAll, describe, expect, it } from 'vitest'
import { type FunctionConfig, readFunctionConfig } from '../src/read-function-config.ts'
import type { FunctionRole } from '../src/rules.ts'

type Environment = Readonly<Record<string, string>>

const CANARY = 'canary-3141592'
const SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:counterstep/store-AbCdEf'
const ROLES = ['api', 'worker', 'sweeper'] as const
const SOUND: Environment = {
  COUNTERSTEP_STORE: 'mysql://counterstep@db.example/counterstep',
  COUNTERSTEP_STORE_PASSWORD_SECRET: SECRET,
  COUNTERSTEP_KEYS_SECRET: SECRET,
  COUNTERSTEP_SERVICES: 'bank=https://bank.example',
}

const folder = mkdtempSync(join(tmpdir(), 'counterstep-function-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function readSoundConfig(environment: Environment = {}, role: FunctionRole = 'api'): FunctionConfig {
  const read = readFunctionConfig(role, { ...SOUND, ...environment })
  if ('problems' in read) throw new Error(read.problems.join(' '))
  return read.config
}

function readProblems(environment: Environment, role: FunctionRole = 'api'): readonly string[] {
  const read = readFunctionConfig(role, { ...SOUND, ...environment })
  return 'problems' in read ? read.problems : []
}

describe('a function that is told what it needs', () => {
  const config = readSoundConfig()

  it('A function has the defaults of a server, and two connections', () => {
    const { inFlightMax, callsInFlightMax, holdMs, checkpointMs } = DEFAULT_SETTINGS
    const { retentionMs, branchTimeoutMs, retry, storeTimeoutMs } = DEFAULT_SETTINGS
    const { targetShare, targetCallsPerSecond, timeoutMsMax, retryFloorMs, parkAfterMs } = DEFAULT_SETTINGS
    const { acceptNewKinds } = DEFAULT_SETTINGS
    expect(config.engine).toEqual({
      inFlightMax,
      callsInFlightMax,
      targetShare,
      targetCallsPerSecond,
      timeoutMsMax,
      retryFloorMs,
      parkAfterMs,
      holdMs,
      checkpointMs,
      retentionMs,
      branchTimeoutMs,
      retry,
      storeTimeoutMs,
      acceptNewKinds,
    })
    expect(config.store).toEqual({
      type: 'mysql',
      place: 'mysql://counterstep@db.example/counterstep',
      target: expect.objectContaining({ hosts: 'db.example', password: undefined }),
      acceptClassC: false,
      keyPrefix: 'counterstep',
      connectionsMax: 2,
      multiplexed: false,
      connectTimeoutMs: 2_000,
      timeoutMs: storeTimeoutMs,
    })
    expect(config.caller).toMatchObject({
      answerExcerpts: true,
      connectionsPerOriginMax: DEFAULT_CALLER_LIMITS.connectionsPerOriginMax,
    })
    expect(config).toMatchObject({
      secrets: { storePassword: SECRET, keys: SECRET, signingKey: undefined },
      access: { authorizer: undefined, ratePerKey: undefined, allowedHosts: [], insecure: [] },
      logLevel: 'info',
      queueUrl: undefined,
      slowQueueUrl: undefined,
      quickCallMs: undefined,
      metricsNamespace: 'Counterstep',
      memoryMb: undefined,
      warnings: [],
    })
  })

  it('The whole configuration of a function is frozen', () => {
    const { store, targets, caller, engine, access, secrets, warnings } = config
    const parts = [config, store, store.target, targets, caller, engine, engine.retry]
    for (const part of [...parts, access, access.insecure, secrets, warnings]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('A function may call no target but those that are listed', () => {
    expect(config.targets).toMatchObject({ others: 'none', isLocal: false, services: [{ name: 'bank' }] })
  })
})

describe('a variable of a function', () => {
  const QUEUE = 'https://sqs.eu-central-1.amazonaws.com/123456789012/counterstep'
  const ACCEPTED: readonly (readonly [string, string, (config: FunctionConfig) => unknown, unknown])[] = [
    ['STORE', 'redis://cache', (config) => config.store.type, 'redis'],
    ['STORE', 'MariaDB://u@db/x', (config) => config.store.place, 'mariadb://u@db/x'],
    ['STORE_TLS', 'required', (config) => config.store.tls, 'required'],
    ['STORE_FAILOVER', 'lossless', (config) => config.store.failover, 'lossless'],
    ['STORE_ACCEPT_CLASS_C', 'true', (config) => config.store.acceptClassC, true],
    ['STORE_CONNECTIONS_MAX', '5', (config) => config.store.connectionsMax, 5],
    [
      'STORE',
      'mysql://u@db.cluster-c1.eu-central-1.rds.amazonaws.com/x',
      ({ store }) => store.multiplexed,
      false,
    ],
    [
      'STORE',
      'mysql://u@shop.proxy-c1.eu-central-1.rds.amazonaws.com/x',
      ({ store }) => store.multiplexed,
      true,
    ],
    [
      'STORE',
      'mysql://u@a.endpoint.proxy-c1.us-east-1.rds.amazonaws.com:3306/x',
      ({ store }) => store.multiplexed,
      true,
    ],
    [
      'STORE',
      'mysql://u@a.proxy-c1.cn-north-1.rds.amazonaws.com.cn/x',
      ({ store }) => store.multiplexed,
      true,
    ],
    [
      'STORE',
      'mysql://u@a.proxy-c1.us-east-1.rds.amazonaws.com.evil.test/x',
      ({ store }) => store.multiplexed,
      false,
    ],
    ['STORE', 'redis://a.proxy-c1.us-east-1.rds.amazonaws.com', ({ store }) => store.multiplexed, false],
    ['STORE_PROXY', 'on', ({ store }) => store.multiplexed, true],
    ['STORE_CONNECT_TIMEOUT_MS', '700', (config) => config.store.connectTimeoutMs, 700],
    ['STORE_TIMEOUT_MS', '900', (config) => config.store.timeoutMs, 900],
    ['STORE_TIMEOUT_MS', '900', (config) => config.engine.storeTimeoutMs, 900],
    ['ALLOW_ANY_TARGET', 'true', (config) => config.targets.others, 'any'],
    ['ANSWER_EXCERPTS', 'off', (config) => config.caller.answerExcerpts, false],
    ['CONNECTIONS_PER_ORIGIN_MAX', '7', (config) => config.caller.connectionsPerOriginMax, 7],
    ['RETENTION_MS', 'never', (config) => config.engine.retentionMs, 'never'],
    ['RETRY_INITIAL_MS', '50', (config) => config.engine.retry.initialMs, 50],
    ['RETRY_FACTOR', '1.5', (config) => config.engine.retry.factor, 1.5],
    ['RETRY_CAP_MS', '300', (config) => config.engine.retry.capMs, 300],
    ['RETRY_JITTER', '0', (config) => config.engine.retry.jitter, 0],
    ['RETRY_LIMIT', '5', (config) => config.engine.retry.limit, 5],
    ['BRANCH_TIMEOUT_MS', '800', (config) => config.engine.branchTimeoutMs, 800],
    ['CHECKPOINT_MS', '0', (config) => config.engine.checkpointMs, 0],
    ['HOLD_MS', '0', (config) => config.engine.holdMs, 0],
    ['CALLS_IN_FLIGHT_MAX', '9', (config) => config.engine.callsInFlightMax, 9],
    ['IN_FLIGHT_MAX', '8', (config) => config.engine.inFlightMax, 8],
    ['TARGET_SHARE', '0.25', (config) => config.engine.targetShare, 0.25],
    ['TARGET_CALLS_PER_SECOND', '50', (config) => config.engine.targetCallsPerSecond, 50],
    ['TARGET_CALLS_PER_SECOND', 'off', (config) => config.engine.targetCallsPerSecond, null],
    ['TIMEOUT_MS_MAX', '60000', (config) => config.engine.timeoutMsMax, 60_000],
    ['RETRY_FLOOR_MS', '5000', (config) => config.engine.retryFloorMs, 5_000],
    ['PARK_AFTER_MS', 'never', (config) => config.engine.parkAfterMs, 'never'],
    ['ACCEPT_NEW_KINDS', 'true', (config) => config.engine.acceptNewKinds, true],
    ['RATE_PER_KEY', '20', (config) => config.access.ratePerKey, 20],
    ['LOG_LEVEL', 'silent', (config) => config.logLevel, 'silent'],
    ['SIGNING_KEY_SECRET', SECRET, (config) => config.secrets.signingKey, SECRET],
    ['QUEUE_URL', QUEUE, (config) => config.queueUrl, QUEUE],
    ['QUEUE_URL', 'http://127.0.0.1:9324/q', (config) => config.queueUrl, 'http://127.0.0.1:9324/q'],
    ['QUEUE_URL', 'http://[::1]:9324/q', (config) => config.queueUrl, 'http://[::1]:9324/q'],
    ['SLOW_QUEUE_URL', QUEUE, (config) => config.slowQueueUrl, QUEUE],
    ['QUICK_CALL_MS', '', (config) => config.quickCallMs, undefined],
    ['METRICS_NAMESPACE', 'Shop/Orders', (config) => config.metricsNamespace, 'Shop/Orders'],
    ['PORT', '', (config) => config.warnings, []],
  ]
  it.each(ACCEPTED)('The variable COUNTERSTEP_%s may be "%s"', (name, text, read, expected) => {
    expect(read(readSoundConfig({ [`COUNTERSTEP_${name}`]: text }))).toEqual(expected)
  })

  const REFUSED = [
    ['STORE', `oracle://u:${CANARY}@db/x`, 'mysql://, mariadb://'],
    ['STORE', `mysql://u:${CANARY}@db`, '/DATABASE'],
    ['STORE_CONNECTIONS_MAX', '1', 'from 2 to 1000'],
    ['STORE_PROXY', 'yes', 'one of auto, on, off'],
    ['STORE_KEY_PREFIX', 'x', 'is for redis, and the store is mysql'],
    ['SERVICES', `bank=https://u:${CANARY}@bank.test`, 'item 1'],
    ['ALLOW_TARGETS', `https://u:${CANARY}@bank.test`, 'item 1'],
    ['RETENTION_MS', '1', 'or "never"'],
    ['RETRY_INITIAL_MS', '60001', 'must not be over COUNTERSTEP_RETRY_CAP_MS (60000)'],
    ['INSECURE_NO_KEYS', 'yes', 'must be true or false'],
    ['ALLOWED_HOSTS', 'https://orders.example', 'without a scheme'],
    ['LOG_LEVEL', 'loud', 'one of error'],
    ['AUTHORIZER', 'lambda', 'one of iam, jwt'],
    ['STORE_PASSWORD_SECRET', CANARY, 'must be the ARN of a secret'],
    ['KEYS_SECRET', `arn:aws:ssm:eu-central-1:123456789012:parameter/${CANARY}`, 'must be the ARN'],
    ['KEYS_SECRET', `${SECRET}:${CANARY}`, 'must be the ARN'],
    ['KEYS_SECRET', `${SECRET}${'x'.repeat(520)}`, 'must be the ARN'],
    ['SIGNING_KEY_SECRET', SECRET.replace('1234', '12'), 'must be the ARN'],
    ['QUEUE_URL', 'http://sqs.eu-central-1.amazonaws.com/1/q', 'must be the https URL'],
    ['QUEUE_URL', 'counterstep', 'must be the https URL'],
    ['QUEUE_URL', `https://sqs.example/${'q'.repeat(2_048)}`, 'must be the https URL'],
    ['QUEUE_URL', `https://u:${CANARY}@sqs.example/q`, 'no login'],
    ['QUEUE_URL', `https://sqs.example/q?token=${CANARY}`, 'no login and no parameters'],
    ['QUEUE_URL', 'https://sqs.example/1/q.fifo', 'a standard queue'],
    ['SLOW_QUEUE_URL', 'counterstep', 'must be the https URL'],
    ['QUICK_CALL_MS', '199', 'from 200 to 3600000'],
    ['QUICK_CALL_MS', '2000', 'name its queue by COUNTERSTEP_SLOW_QUEUE_URL'],
    ['METRICS_NAMESPACE', 'AWS/Lambda', 'must not start with AWS/'],
    ['METRICS_NAMESPACE', 'x'.repeat(256), 'must be 1 to 255'],
    ['KEYS_FILE', 'keys.json', 'set COUNTERSTEP_KEYS_SECRET'],
    ['SIGNING_KEY_FILE', 'key.pem', 'set COUNTERSTEP_SIGNING_KEY_SECRET'],
  ] as const
  it.each(REFUSED)('The variable COUNTERSTEP_%s is refused by name as "%s"', (name, text, message) => {
    const problems = readProblems({ [`COUNTERSTEP_${name}`]: text })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^COUNTERSTEP_${name} `))
    expect(problems[0]).toContain(message)
    expect(problems[0]).toMatch(/\.$/)
    expect(problems[0]).not.toContain(CANARY)
    expect(problems[0]).not.toContain('--')
  })

  it('A variable that is no setting of a function is ignored, with a warning', () => {
    const environment = { COUNTERSTEP_PORT: 'tcp://10.0.0.1:8470', COUNTERSTEP_SPEED: '9' }
    expect(readSoundConfig(environment).warnings).toEqual([
      'COUNTERSTEP_PORT is no setting of a function and was ignored.',
      'COUNTERSTEP_SPEED is no setting of a function and was ignored.',
    ])
  })

  it('All problems of a configuration are named at once', () => {
    const problems = readProblems({
      COUNTERSTEP_STORE: 'mysql://db',
      COUNTERSTEP_SERVICES: '',
      COUNTERSTEP_KEYS_SECRET: '',
      COUNTERSTEP_QUEUE_URL: 'q',
      COUNTERSTEP_RETRY_LIMIT: '0',
    })
    for (const name of ['STORE', 'SERVICES', 'KEYS_SECRET', 'QUEUE_URL', 'RETRY_LIMIT']) {
      expect(problems.filter((problem) => problem.includes(`COUNTERSTEP_${name}`))).toHaveLength(1)
    }
    expect(problems).toHaveLength(5)
  })
})

describe('S40: the slow queue of a function', () => {
  const [quick, slow] = ['https://sqs.example/1/due', 'https://sqs.example/1/slow']
  const both = { COUNTERSTEP_QUEUE_URL: quick, COUNTERSTEP_SLOW_QUEUE_URL: slow }

  it('A function may leave calls that take longer to the slow queue', () => {
    expect(readSoundConfig({ ...both, COUNTERSTEP_QUICK_CALL_MS: '2000' })).toMatchObject({
      slowQueueUrl: slow,
      quickCallMs: 2_000,
      warnings: [],
    })
    expect(readSoundConfig(both, 'worker')).toMatchObject({ quickCallMs: undefined, warnings: [] })
  })

  it('The slow queue is another queue', () => {
    expect(readProblems({ ...both, COUNTERSTEP_SLOW_QUEUE_URL: quick })).toEqual([
      'COUNTERSTEP_SLOW_QUEUE_URL must be another queue than COUNTERSTEP_QUEUE_URL.',
    ])
  })

  it('A function that calls branches and has no slow queue warns of it', () => {
    const alone = { COUNTERSTEP_QUEUE_URL: quick }
    for (const role of ['api', 'worker'] as const)
      expect(readSoundConfig(alone, role).warnings).toEqual([
        expect.stringContaining('one service that hangs may hold all functions'),
      ])
    expect(readSoundConfig(alone, 'sweeper').warnings).toEqual([])
  })
})

describe('the store of a function', () => {
  it('The store of a function is not left empty', () => {
    for (const role of ROLES)
      expect(readProblems({ COUNTERSTEP_STORE: '' }, role)).toContain(
        'COUNTERSTEP_STORE is empty: give it a value, or leave it out.',
      )
  })

  it.each(['a.db', 'sqlite:/tmp/a.db'])('The store of a function is not the embedded one ("%s")', (text) => {
    for (const role of ROLES) {
      expect(readProblems({ COUNTERSTEP_STORE: text, COUNTERSTEP_STORE_PASSWORD_SECRET: '' }, role)).toEqual([
        'COUNTERSTEP_STORE must be a URL, mysql://…, postgres://… or redis://…. ' +
          'The embedded store is refused on Lambda: its disk is lost with the function.',
      ])
    }
  })

  it('The password of a store comes from one place', () => {
    expect(readProblems({ COUNTERSTEP_STORE_PASSWORD: CANARY })).toEqual([
      'COUNTERSTEP_STORE_PASSWORD_SECRET and COUNTERSTEP_STORE_PASSWORD are both set; set one.',
    ])
    expect(readProblems({ COUNTERSTEP_STORE: `mysql://u:${CANARY}@db/x` })).toEqual([
      'COUNTERSTEP_STORE has a password, and COUNTERSTEP_STORE_PASSWORD_SECRET is set, too; give one.',
    ])
  })

  it('The URL of a Redis may name a user when the password comes from a secret', () => {
    expect(readSoundConfig({ COUNTERSTEP_STORE: 'rediss://u@cache' }).store.place).toBe('rediss://u@cache')
    expect(
      readProblems({ COUNTERSTEP_STORE: 'rediss://u@cache', COUNTERSTEP_STORE_PASSWORD_SECRET: '' }),
    ).toEqual([expect.stringContaining('names a user without a password')])
  })

  it('S20: A retention in which barriers cannot tell a reused gid is warned of', () => {
    expect(readSoundConfig({ COUNTERSTEP_RETENTION_MS: '60000' }).warnings).toEqual([
      expect.stringContaining('COUNTERSTEP_RETENTION_MS (60000) is under 90000000 (25 hours)'),
    ])
  })

  it('S37: A store is warned of where its password shows, or travels in clear text', () => {
    const plain = { COUNTERSTEP_STORE_PASSWORD_SECRET: '' }
    const hint = 'shows to whoever may look at the function'
    const inUrl = readSoundConfig({ ...plain, COUNTERSTEP_STORE: `mysql://u:${CANARY}@db/x` }).warnings
    expect(inUrl).toEqual([expect.stringContaining(`The password in COUNTERSTEP_STORE ${hint}`)])
    const inVariable = readSoundConfig({ ...plain, COUNTERSTEP_STORE_PASSWORD: CANARY }).warnings
    expect(inVariable).toEqual([expect.stringContaining(`in COUNTERSTEP_STORE_PASSWORD ${hint}`)])
    expect([...inUrl, ...inVariable].join()).not.toContain(CANARY)
    const path = join(folder, 'password')
    writeFileSync(path, CANARY)
    expect(readSoundConfig({ ...plain, COUNTERSTEP_STORE_PASSWORD_FILE: path }).warnings).toEqual([])
    expect(readSoundConfig({ COUNTERSTEP_STORE_TLS: 'off' }).warnings).toEqual([
      expect.stringContaining('COUNTERSTEP_STORE_TLS is off'),
    ])
  })

  it('A store with an address needs a name for its certificate, and the message says so in variables', () => {
    const [problem] = readProblems({ COUNTERSTEP_STORE: 'mysql://u@10.0.0.7/x' })
    expect(problem).toContain('give COUNTERSTEP_STORE_TLS_SERVER_NAME')
    expect(problem).toContain('COUNTERSTEP_STORE_TLS=off')
    expect(problem).not.toContain('--')
  })
})

describe('S10: who may call a function', () => {
  const NO_KEYS = { COUNTERSTEP_KEYS_SECRET: '' }

  it('The callers of the api must be configured, in one of three ways', () => {
    expect(readProblems(NO_KEYS)).toEqual([
      expect.stringMatching(
        /COUNTERSTEP_KEYS_SECRET; .*COUNTERSTEP_AUTHORIZER=iam or jwt; .*COUNTERSTEP_INSECURE_NO_KEYS=true/,
      ),
    ])
    expect(readProblems({ ...NO_KEYS, COUNTERSTEP_INSECURE_NO_KEYS: 'false' })).toHaveLength(1)
    expect(readSoundConfig().access.insecure).toEqual([])
    for (const authorizer of ['iam', 'jwt']) {
      const { access, warnings } = readSoundConfig({ ...NO_KEYS, COUNTERSTEP_AUTHORIZER: authorizer })
      expect({ access, warnings }).toMatchObject({ access: { authorizer, insecure: [] }, warnings: [] })
    }
    const open = readSoundConfig({ ...NO_KEYS, COUNTERSTEP_INSECURE_NO_KEYS: 'true' })
    expect(open.access.insecure).toEqual(['no-keys'])
    expect(open.warnings).toEqual([expect.stringContaining('COUNTERSTEP_INSECURE_NO_KEYS: anyone who')])
  })

  it('The callers of worker and sweeper need not be configured, since they are not called over HTTP', () => {
    for (const role of ['worker', 'sweeper'] as const)
      expect(readSoundConfig(NO_KEYS, role).warnings).toEqual([])
  })

  it('A setting of callers is refused that contradicts another or has no effect', () => {
    const insecure = { COUNTERSTEP_INSECURE_NO_KEYS: 'true' }
    expect(readProblems(insecure)).toEqual([
      'COUNTERSTEP_INSECURE_NO_KEYS contradicts COUNTERSTEP_KEYS_SECRET.',
    ])
    expect(readProblems({ ...NO_KEYS, ...insecure, COUNTERSTEP_AUTHORIZER: 'iam' })).toEqual([
      'COUNTERSTEP_INSECURE_NO_KEYS contradicts COUNTERSTEP_AUTHORIZER.',
    ])
    expect(
      readProblems({ ...NO_KEYS, COUNTERSTEP_AUTHORIZER: 'iam', COUNTERSTEP_RATE_PER_KEY: '5' }),
    ).toEqual(['COUNTERSTEP_RATE_PER_KEY is of use only with COUNTERSTEP_KEYS_SECRET.'])
  })

  it('Keys beside an authorizer are warned of, because both read one header', () => {
    expect(readSoundConfig({ COUNTERSTEP_AUTHORIZER: 'jwt' }).warnings).toEqual([
      expect.stringContaining('COUNTERSTEP_AUTHORIZER=jwt beside COUNTERSTEP_KEYS_SECRET'),
    ])
  })
})

describe('S1: the targets of a function', () => {
  const NONE = { COUNTERSTEP_SERVICES: '' }
  const QUEUE = { COUNTERSTEP_QUEUE_URL: 'https://sqs.example/1/q' }

  it('The targets of a function must be configured, in variables', () => {
    for (const role of ROLES) {
      expect(readProblems(NONE, role)).toEqual([
        'Whoever may submit names the URLs that a function calls, so say where branches may be called: ' +
          'COUNTERSTEP_SERVICES=bank=https://bank.example (then bank:/debit), ' +
          'COUNTERSTEP_ALLOW_TARGETS=https://bank.example,http://10.0.0.5:8080, or, insecure, ' +
          'COUNTERSTEP_ALLOW_ANY_TARGET=true.',
      ])
    }
  })

  it('A sweeper that has a queue needs no targets, because it calls no branch', () => {
    expect(readSoundConfig({ ...NONE, ...QUEUE }, 'sweeper').targets.others).toBe('none')
    expect(readProblems({ ...NONE, ...QUEUE }, 'worker')).toHaveLength(1)
    expect(readProblems({ ...NONE, ...QUEUE }, 'api')).toHaveLength(1)
  })

  it('A function that may call anything is warned', () => {
    const ranged = readSoundConfig({ ...NONE, COUNTERSTEP_ALLOW_TARGETS: 'http://10.0.0.0/8:*' })
    expect(ranged.targets.allowed).toMatchObject([{ type: 'range', protocol: 'http:', port: '*' }])
    expect(ranged.warnings).toEqual([expect.stringContaining('COUNTERSTEP_ALLOW_TARGETS has a range')])
    expect(readSoundConfig({ ...NONE, COUNTERSTEP_ALLOW_ANY_TARGET: 'true' }).warnings).toEqual([
      expect.stringContaining('INSECURE COUNTERSTEP_ALLOW_ANY_TARGET=true'),
    ])
  })
})
