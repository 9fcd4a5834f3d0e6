import { describe, expect, it } from 'vitest'
import { checkAlarms } from './check-alarms.ts'
import { checkFunctions, checkSecrets } from './check-functions.ts'
import { checkOpenness } from './check-openness.ts'
import { checkPolicies } from './check-policies.ts'
import { checkQueues } from './check-queues.ts'
import { checkReferences } from './check-references.ts'
import { buildBundles, isReadByFunctions } from './functions.ts'
import { type Fault, parseTemplate, readTemplate, type Template } from './template.ts'

const BUNDLES = { folders: buildBundles(), reads: isReadByFunctions }
const SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:'
const SECRETS: readonly Readonly<Record<string, string>>[] = [
  {},
  { StorePasswordSecretArn: `${SECRET}store` },
  { SigningKeySecretArn: `${SECRET}signing` },
  { Authorization: 'keys', KeysSecretArn: `${SECRET}keys` },
  {
    Authorization: 'keys',
    KeysSecretArn: `${SECRET}keys`,
    StorePasswordSecretArn: `${SECRET}store`,
    SigningKeySecretArn: `${SECRET}signing`,
  },
]

function checkAll(template: Template): Fault[] {
  return [
    ...checkReferences(template),
    ...checkPolicies(template),
    ...checkQueues(template),
    ...checkAlarms(template),
    ...checkOpenness(template),
    ...checkFunctions(template, BUNDLES),
    ...SECRETS.flatMap((parameters) => checkSecrets(template, parameters)),
  ]
}

const TEMPLATE = readTemplate()

describe('the template', () => {
  const template = TEMPLATE

  it('The template uses names that exist, and no others', () => expect(checkReferences(template)).toEqual([]))
  it('S14: The template gives each role what its function does, and no more', () =>
    expect(checkPolicies(template)).toEqual([]))
  it('The queues of the template allow for slow workers', () => expect(checkQueues(template)).toEqual([]))
  it('The template has an alarm for what would not be noticed otherwise', () =>
    expect(checkAlarms(template)).toEqual([]))
  it('S14: The template is never open, whatever its parameters', () =>
    expect(checkOpenness(template)).toEqual([]))
  it('The template deploys what is built, with settings that are read', () =>
    expect(checkFunctions(template, BUNDLES)).toEqual([]))
  it('S14: The template lets a function read the secrets that it is told of', () =>
    expect(SECRETS.flatMap((parameters) => checkSecrets(template, parameters))).toEqual([]))
})

/** Copies the template with one value replaced, or taken away. */
function plantFault(path: string, value: unknown): Template {
  const template = structuredClone(TEMPLATE)
  const keys = path.split(' ')
  const last = keys.pop() ?? ''
  let place = template as unknown as Record<string, unknown>
  for (const key of keys) place = place[key] as Record<string, unknown>
  if (value === undefined) delete place[last]
  else place[last] = value
  return template
}

const API = 'Resources ApiFunction Properties'
const API_STATEMENTS = 'Resources ApiRole Properties Policies 0 PolicyDocument Statement'
const WORKER_STATEMENTS = 'Resources WorkerRole Properties Policies 0 PolicyDocument Statement'
const SWEEPER_STATEMENTS = 'Resources SweeperRole Properties Policies 0 PolicyDocument Statement'
const NETWORK_STATEMENTS = 'Resources NetworkPolicy Properties PolicyDocument Statement'
const QUEUE_ARN = { 'Fn::GetAtt': ['Queue', 'Arn'] }

/** Each planted fault has its name, its place, the value, and the rule that must catch it. */
const PLANTED: readonly (readonly [string, string, unknown, string])[] = [
  ['a Ref to nothing', `${API} Timeout`, { Ref: 'Nothing' }, 'names-exist'],
  ['a GetAtt of nothing', `${API} Role`, { 'Fn::GetAtt': ['NoRole', 'Arn'] }, 'names-exist'],
  ['a Sub of nothing', `${API} Description`, { 'Fn::Sub': `\${Nothing}` }, 'names-exist'],
  ['a Sub of an attribute of nothing', `${API} Description`, { 'Fn::Sub': `\${Nothing.Arn}` }, 'names-exist'],
  ['a DependsOn of nothing', 'Resources ApiFunction DependsOn', ['Queue', 'Nothing'], 'names-exist'],
  ['a condition that does not exist', 'Resources Url Condition', 'IsNothing', 'names-exist'],
  [
    'an If of a condition that does not exist',
    `${API} Description`,
    { 'Fn::If': ['IsNothing', 'a', 'b'] },
    'names-exist',
  ],
  [
    'a condition made of one that does not exist',
    'Conditions HasUrl',
    { Condition: 'IsNothing' },
    'names-exist',
  ],
  ['a map that does not exist', `${API} Timeout`, { 'Fn::FindInMap': ['NoMap', 'a', 'b'] }, 'names-exist'],
  [
    'a rule about nothing',
    'Rules VpcIsWhole RuleCondition',
    { 'Fn::Equals': [{ Ref: 'No' }, ''] },
    'names-exist',
  ],
  ['a parameter that nothing uses', 'Parameters Spare', { Type: 'String' }, 'names-are-used'],
  ['a condition that nothing uses', 'Conditions Spare', { 'Fn::Equals': ['a', 'b'] }, 'names-are-used'],
  ['a mapping that nothing uses', 'Mappings Spare', { a: { b: 1 } }, 'names-are-used'],
  ['a parameter in no group', 'Parameters Spare', { Type: 'String' }, 'parameters-are-grouped'],

  ['a * as action', `${API_STATEMENTS} 1 Action`, 'sqs:*', 'no-wildcards'],
  ['a * as resource', `${API_STATEMENTS} 1 Resource`, '*', 'no-wildcards'],
  [
    'a * within a resource',
    `${API_STATEMENTS} 1 Resource`,
    { 'Fn::Sub': `arn:\${AWS::Partition}:sqs:*` },
    'no-wildcards',
  ],
  ['a * behind a condition', `${API_STATEMENTS} 2 Fn::If 1 Resource`, ['*'], 'no-wildcards'],
  ['a negation', `${API_STATEMENTS} 1 NotAction`, 'iam:PassRole', 'no-negations'],
  [
    'an api that may receive messages',
    `${API_STATEMENTS} 1 Action`,
    ['sqs:SendMessage', 'sqs:ReceiveMessage'],
    'least-privilege',
  ],
  [
    'a sweeper that may delete messages',
    `${SWEEPER_STATEMENTS} 1 Action`,
    ['sqs:SendMessage', 'sqs:DeleteMessage'],
    'least-privilege',
  ],
  [
    'a worker that may empty the dead letters',
    `${WORKER_STATEMENTS} 1 Resource`,
    [QUEUE_ARN, { 'Fn::GetAtt': ['DeadLetterQueue', 'Arn'] }],
    'least-privilege',
  ],
  [
    'a sweeper that may read the keys',
    `${SWEEPER_STATEMENTS} 2 Fn::If 1 Resource`,
    [{ Ref: 'StorePasswordSecretArn' }, { Ref: 'KeysSecretArn' }],
    'least-privilege',
  ],
  [
    'a worker that may not delete messages',
    `${WORKER_STATEMENTS} 1 Action`,
    ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:GetQueueAttributes'],
    'enough-privilege',
  ],
  ['a key for anything', `${API_STATEMENTS} 3 Fn::If 1 Condition`, undefined, 'keys-by-service'],
  [
    'a policy of Amazon',
    'Resources ApiRole Properties ManagedPolicyArns',
    ['arn:aws:iam::aws:policy/AmazonSQSFullAccess'],
    'no-managed-policies',
  ],
  [
    'a role for another account',
    'Resources ApiRole Properties AssumeRolePolicyDocument Statement 0 Principal',
    { AWS: '111122223333' },
    'trust',
  ],
  [
    'a role that the checks do not know',
    'Resources OtherRole',
    { Type: 'AWS::IAM::Role', Properties: { Policies: [] } },
    'roles-are-known',
  ],
  [
    'a policy beside the roles',
    'Resources Other',
    { Type: 'AWS::IAM::Policy', Properties: {} },
    'policies-in-roles',
  ],
  [
    'a network policy that allows more',
    `${NETWORK_STATEMENTS} 0 Action`,
    ['ec2:CreateNetworkInterface', 'ec2:RunInstances'],
    'network',
  ],
  [
    "a network policy for the functions' own code",
    `${NETWORK_STATEMENTS} 1 Condition ArnEquals lambda:SourceFunctionArn`,
    [],
    'network',
  ],
  ['a network policy that denies nothing', `${NETWORK_STATEMENTS} 1 Effect`, 'Allow', 'network'],

  ['a short visibility timeout', 'Mappings VisibilityTimeout 300 Seconds', 1799, 'visibility'],
  ['a visibility timeout that SQS refuses', 'Mappings VisibilityTimeout 900 Seconds', 43_201, 'visibility'],
  [
    'a timeout without a visibility timeout',
    'Parameters WorkerTimeoutSeconds AllowedValues',
    [60, 90],
    'visibility',
  ],
  ['any timeout', 'Parameters WorkerTimeoutSeconds AllowedValues', undefined, 'visibility'],
  ['a visibility timeout of its own', 'Resources Queue Properties VisibilityTimeout', 720, 'visibility'],
  ['a worker timeout of its own', 'Resources WorkerFunction Properties Timeout', 900, 'visibility'],
  [
    'dead letters after too few attempts',
    'Resources Queue Properties RedrivePolicy maxReceiveCount',
    4,
    'dead-letters',
  ],
  ['hints that are kept too long', 'Resources Queue Properties MessageRetentionPeriod', 86_400, 'retention'],
  [
    'hints that are kept as long as SQS likes',
    'Resources Queue Properties MessageRetentionPeriod',
    undefined,
    'retention',
  ],
  ['hints that vanish before they are dead letters', 'Mappings HintRetention 120 Seconds', 3600, 'retention'],
  [
    'dead letters that are kept too short',
    'Resources DeadLetterQueue Properties MessageRetentionPeriod',
    3600,
    'retention',
  ],
  ['no dead letters', 'Resources Queue Properties RedrivePolicy', undefined, 'dead-letters'],
  ['a queue in clear text', 'Resources DeadLetterQueue Properties SqsManagedSseEnabled', false, 'encryption'],
  [
    'batches that fail as a whole',
    'Resources WorkerTakesFromQueue Properties FunctionResponseTypes',
    undefined,
    'batches',
  ],
  [
    'a worker that takes slow calls',
    'Resources WorkerTakesFromQueue Properties EventSourceArn',
    { 'Fn::GetAtt': ['SlowQueue', 'Arn'] },
    'sources',
  ],
  ['no slow queue', 'Resources SlowQueue', undefined, 'queues'],
  [
    'a loop of the slow worker that AWS cuts off',
    'Resources SlowWorkerFunction Properties RecursiveLoop',
    undefined,
    'recursion',
  ],
  [
    'unbounded slow workers',
    'Resources SlowWorkerFunction Properties ReservedConcurrentExecutions',
    undefined,
    'batches',
  ],
  ['unbounded workers', 'Resources WorkerTakesFromQueue Properties ScalingConfig', undefined, 'batches'],
  ['a batch that AWS refuses', 'Mappings BatchingWindow 25 Seconds', 0, 'batches'],
  ['a slow small batch', 'Mappings BatchingWindow 10 Seconds', 1, 'batches'],
  [
    'a queue for everyone',
    'Resources QueuePolicy Properties PolicyDocument Statement 1 Effect',
    'Allow',
    'queue-policy',
  ],
  [
    'a policy for any queue',
    'Resources QueuePolicy Properties PolicyDocument Statement 0 Resource',
    '*',
    'queue-policy',
  ],
  [
    'a queue without TLS',
    'Resources DeadLetterQueuePolicy Properties PolicyDocument Statement',
    [],
    'queue-policy',
  ],

  ['no alarm of dead letters', 'Resources DeadLettersAlarm', undefined, 'alarms'],
  [
    'an alarm about the wrong queue',
    'Resources DeadLettersAlarm Properties Dimensions 0 Value',
    { 'Fn::GetAtt': ['Queue', 'QueueName'] },
    'alarms',
  ],
  ['no alarm of a worker that throws', 'Resources WorkerErrorsAlarm', undefined, 'alarms'],
  ['no alarm of a worker that does not run', 'Resources QueueAgeAlarm', undefined, 'alarms'],
  ['no alarm of services that hang', 'Resources SlowQueueAgeAlarm', undefined, 'alarms'],
  ['no alarm of a slow worker that throws', 'Resources SlowWorkerErrorsAlarm', undefined, 'alarms'],
  ['no alarm of a sweeper that throws', 'Resources SweeperErrorsAlarm', undefined, 'alarms'],
  ['a silent sweeper', 'Resources OldestDueAgeAlarm Properties TreatMissingData', 'notBreaching', 'alarms'],
  [
    'an alarm about another stack',
    'Resources NeedsAttentionAlarm Properties Namespace',
    'Counterstep',
    'alarms',
  ],
  [
    'an alarm of what is not published',
    'Resources Spare',
    {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: {
        Namespace: { Ref: 'MetricsNamespace' },
        MetricName: 'Purgatory',
        AlarmActions: { 'Fn::If': ['HasAlarmTopic', [{ Ref: 'AlarmTopicArn' }], { Ref: 'AWS::NoValue' }] },
      },
    },
    'alarms',
  ],
  [
    'an alarm without a receiver',
    'Resources NeedsAttentionAlarm Properties AlarmActions',
    undefined,
    'alarms',
  ],
  ['an alarm of averages', 'Resources OldestDueAgeAlarm Properties Statistic', 'Average', 'alarms'],
  ['an alarm between two reports', 'Resources OldestDueAgeAlarm Properties Period', 10, 'alarms'],

  ['an open URL', 'Resources Url Properties AuthType', 'NONE', 'never-open'],
  [
    'a URL that opens when the secret is forgotten',
    'Conditions AsksForKeys',
    { 'Fn::Equals': [{ Ref: 'Authorization' }, 'keys'] },
    'never-open',
  ],
  ['an open route', 'Resources HttpApiRoute Properties AuthorizationType', undefined, 'never-open'],
  ['JWT without an authorizer', 'Resources HttpApiAuthorizer Condition', 'HasUrlForKeys', 'never-open'],
  ['a second HTTP API', 'Resources Url Condition', undefined, 'never-open'],
  [
    'an api that trusts another guard',
    `${API} Environment Variables COUNTERSTEP_AUTHORIZER`,
    'jwt',
    'never-open',
  ],
  [
    'an api that lets anyone in',
    `${API} Environment Variables COUNTERSTEP_INSECURE_NO_KEYS`,
    'true',
    'never-open',
  ],
  ['an invocation by anyone', 'Resources UrlForKeysInvokes Condition', undefined, 'never-open'],
  [
    'an invocation by every gateway',
    'Resources HttpApiInvokes Properties SourceArn',
    undefined,
    'never-open',
  ],

  ['code that is not built', `${API} CodeUri`, '../../functions/dist/other', 'bundles'],
  ['a bundle that is not deployed', 'Resources SweeperFunction', undefined, 'bundles'],
  ['a function of another kind', 'Resources ApiFunction Type', 'AWS::Lambda::Function', 'bundles'],
  ['another runtime', 'Globals Function Runtime', 'nodejs99.x', 'runtime'],
  ['another processor', 'Globals Function Architectures', ['x86_64'], 'runtime'],
  ['another handler', 'Globals Function Handler', 'main.handler', 'runtime'],
  ['a runtime of its own', `${API} Runtime`, 'nodejs22.x', 'globals'],
  ['the role of another', `${API} Role`, { 'Fn::GetAtt': ['WorkerRole', 'Arn'] }, 'own-role'],
  ['an unbounded number of environments', `${API} ReservedConcurrentExecutions`, undefined, 'bounded'],
  ['a timeout that AWS refuses', 'Parameters ApiTimeoutSeconds MaxValue', 901, 'bounded'],
  ['a timeout without an end', 'Parameters ApiTimeoutSeconds MaxValue', undefined, 'bounded'],
  ['logs that are kept for ever', 'Resources ApiLogs Properties RetentionInDays', undefined, 'logs'],
  ['a variable that nothing reads', `${API} Environment Variables COUNTERSTEP_COLOUR`, 'red', 'variables'],
  [
    'a common variable that nothing reads',
    'Globals Function Environment Variables COUNTERSTEP_PORT',
    '1',
    'variables',
  ],
  [
    'an api that any call may hold',
    `${API} Environment Variables COUNTERSTEP_QUICK_CALL_MS`,
    undefined,
    'quick-calls',
  ],
  [
    'a slow worker that makes no slow calls',
    'Resources SlowWorkerFunction Properties Environment Variables COUNTERSTEP_QUICK_CALL_MS',
    { Ref: 'QuickCallMs' },
    'quick-calls',
  ],
  [
    'a worker that knows no slow queue',
    'Resources WorkerFunction Properties Environment Variables COUNTERSTEP_SLOW_QUEUE_URL',
    { Ref: 'Queue' },
    'quick-calls',
  ],
  ['a loop that AWS cuts off', 'Resources WorkerFunction Properties RecursiveLoop', undefined, 'recursion'],
  ['a loop of the api', `${API} RecursiveLoop`, 'Allow', 'recursion'],
  ['a secret that cannot be read', `${WORKER_STATEMENTS} 3 Fn::If 0`, 'HasSigningKey', 'secrets'],
  [
    'a secret for nothing',
    'Resources WorkerFunction Properties Environment Variables COUNTERSTEP_SIGNING_KEY_SECRET',
    undefined,
    'secrets',
  ],
]

describe('S14: the checks of the template', () => {
  for (const [name, path, value, rule] of PLANTED) {
    it(`The checks catch ${name}`, () => {
      expect(checkAll(plantFault(path, value)).map((fault) => fault.rule)).toContain(rule)
    })
  }

  it('The checks refuse a tag that they do not know', () => {
    expect(() => parseTemplate('Resources: !Transform { Name: a }')).toThrow('!Transform')
  })
})
