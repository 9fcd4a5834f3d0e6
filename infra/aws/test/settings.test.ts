import { type FunctionRole, readFunctionConfig } from '@counterstep/configuration'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { describe, expect, it } from 'vitest'
import { listRefusals } from './check-rules.ts'
import { type ParameterValues, resolveTemplate } from './resolve-template.ts'
import { readTemplate } from './template.ts'

const SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:'
const QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/111122223333/counterstep-due'
const SLOW_QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/111122223333/counterstep-slow'
const URLS: Readonly<Record<string, string>> = {
  COUNTERSTEP_QUEUE_URL: QUEUE_URL,
  COUNTERSTEP_SLOW_QUEUE_URL: SLOW_QUEUE_URL,
}
const JWT = { JwtIssuer: 'https://issuer.example', JwtAudiences: 'counterstep' }
const ROLES = ['api', 'worker', 'sweeper'] as const
const template = readTemplate()

/** A user may deploy with these parameters. */
const DEPLOYMENTS: readonly ParameterValues[] = [
  { StoreUrl: 'mysql://counterstep@db.example/counterstep', Services: 'bank=https://bank.example' },
  {
    Face: 'http-api',
    Authorization: 'jwt',
    ...JWT,
    StoreUrl: 'rediss://counterstep@cache.example:6379',
    StorePasswordSecretArn: `${SECRET}store`,
    StoreFailover: 'lossy',
    StoreDurability: 'b',
    AllowTargets: 'https://bank.example',
    RetentionMs: 'never',
  },
  {
    Authorization: 'keys',
    KeysSecretArn: `${SECRET}keys`,
    StoreUrl: 'postgres://counterstep@proxy.example:5432/counterstep',
    StorePasswordSecretArn: `${SECRET}store`,
    SigningKeySecretArn: `${SECRET}signing`,
    StoreFailover: 'lossless',
    Services: 'bank=https://bank.example',
    AllowTargets: 'https://*.services.example',
    SubnetIds: 'subnet-0a,subnet-0b',
    SecurityGroupIds: 'sg-0a',
    BranchTimeoutMs: '5000',
    BranchTimeoutMsMax: '60000',
    TargetShare: '1',
    TargetCallsPerSecond: '20',
    RetryFloorMs: '2000',
    ParkAfterMs: 'never',
  },
]

const BOUNDS_OF_TARGETS = [
  'COUNTERSTEP_TIMEOUT_MS_MAX',
  'COUNTERSTEP_TARGET_SHARE',
  'COUNTERSTEP_TARGET_CALLS_PER_SECOND',
  'COUNTERSTEP_RETRY_FLOOR_MS',
  'COUNTERSTEP_PARK_AFTER_MS',
]

/** Returns the variables as Lambda would pass them: as text, and with the queues' URLs in place of the references. */
function makeEnvironment(
  role: FunctionRole,
  parameters: ParameterValues,
  name = `${role.slice(0, 1).toUpperCase()}${role.slice(1)}Function`,
): Record<string, string> {
  const { environments } = resolveTemplate(template, parameters)
  return Object.fromEntries(
    Object.entries(environments[name] ?? {}).map(([variable, value]) => [
      variable,
      URLS[variable] ?? String(value),
    ]),
  )
}

describe('the settings of the functions', () => {
  for (const [index, parameters] of DEPLOYMENTS.entries()) {
    for (const role of ROLES) {
      it(`The function ${role} reads its settings from the template without a problem or a warning (deployment ${index + 1})`, () => {
        const read = readFunctionConfig(role, makeEnvironment(role, parameters))
        expect(read).toMatchObject({ config: { warnings: [], queueUrl: QUEUE_URL } })
      })
    }
  }
})

describe('S40: the time that calls may hold a function', () => {
  it('Calls hold api and worker for the time of the parameter, and the function of the slow queue for their own', () => {
    const parameters = { ...DEPLOYMENTS[0], QuickCallMs: '3000' }
    for (const role of ['api', 'worker'] as const)
      expect(readFunctionConfig(role, makeEnvironment(role, parameters))).toMatchObject({
        config: { quickCallMs: 3_000, slowQueueUrl: SLOW_QUEUE_URL },
      })
    expect(
      readFunctionConfig('worker', makeEnvironment('worker', parameters, 'SlowWorkerFunction')),
    ).toMatchObject({
      config: { quickCallMs: undefined, slowQueueUrl: SLOW_QUEUE_URL, queueUrl: QUEUE_URL, warnings: [] },
    })
  })
})

describe('the bounds of one target', () => {
  for (const role of ['api', 'worker'] as const) {
    it(`The function ${role} gets the bounds of one target, with the defaults of the server`, () => {
      const [usual = {}, , own = {}] = DEPLOYMENTS
      const { targetShare, targetCallsPerSecond, retryFloorMs, parkAfterMs } = DEFAULT_SETTINGS
      // A call may hold the function of the slow queue, so its longest time is lower than a server's.
      const timeoutMsMax = 60_000
      expect(readFunctionConfig(role, makeEnvironment(role, usual))).toMatchObject({
        config: { engine: { targetShare, targetCallsPerSecond, timeoutMsMax, retryFloorMs, parkAfterMs } },
      })
      expect(Object.keys(makeEnvironment(role, usual))).toEqual(expect.arrayContaining(BOUNDS_OF_TARGETS))
      expect(readFunctionConfig(role, makeEnvironment(role, own))).toMatchObject({
        config: {
          engine: {
            targetShare: 1,
            targetCallsPerSecond: 20,
            timeoutMsMax: 60_000,
            retryFloorMs: 2_000,
            parkAfterMs: 'never',
          },
        },
      })
    })
  }
})

describe("the template's rules", () => {
  for (const [index, parameters] of DEPLOYMENTS.entries()) {
    it(`The template's rules accept deployment ${index + 1}`, () =>
      expect(listRefusals(template, parameters)).toEqual([]))
  }

  const [fine = {}] = DEPLOYMENTS
  const REFUSED: readonly (readonly [string, ParameterValues, string])[] = [
    ['jwt at a Function URL', { Authorization: 'jwt', ...JWT }, 'Face=http-api'],
    [
      'jwt without an issuer',
      { ...JWT, Authorization: 'jwt', Face: 'http-api', JwtIssuer: '' },
      'needs JwtIssuer',
    ],
    [
      'jwt without an audience',
      { ...JWT, Authorization: 'jwt', Face: 'http-api', JwtAudiences: '' },
      'needs JwtAudiences',
    ],
    ['an issuer with iam', { JwtIssuer: JWT.JwtIssuer }, 'are for Authorization=jwt'],
    [
      'audiences with keys',
      { Authorization: 'keys', KeysSecretArn: `${SECRET}keys`, JwtAudiences: JWT.JwtAudiences },
      'are for Authorization=jwt',
    ],
    ['keys without their secret', { Authorization: 'keys' }, 'needs KeysSecretArn'],
    ['keys that are not used', { KeysSecretArn: `${SECRET}keys` }, 'is for Authorization=keys'],
    ['an empty list of targets', { Services: '' }, 'Name what may be called'],
    ['subnets alone', { SubnetIds: 'subnet-0a' }, 'go together'],
    ['security groups alone', { SecurityGroupIds: 'sg-0a' }, 'go together'],
  ]
  for (const [name, parameters, sentence] of REFUSED) {
    it(`The template's rules refuse ${name}`, () => {
      expect(listRefusals(template, { ...fine, ...parameters })).toEqual([expect.stringContaining(sentence)])
    })
  }
})
