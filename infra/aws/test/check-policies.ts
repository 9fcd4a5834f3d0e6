import { type Fault, findResources, type Properties, type Template, toList } from './template.ts'

/** The grants of a role when every optional parameter is given. The keys are actions, the values their resources. */
type Grants = Readonly<Record<string, readonly string[]>>

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents']
const KMS: Grants = {
  'kms:Decrypt': ['Ref SecretsKmsKeyArn', 'Ref QueueKmsKeyArn'],
  'kms:GenerateDataKey': ['Ref QueueKmsKeyArn'],
}
const QUEUE = ['GetAtt Queue.Arn']
const SLOW_QUEUE = ['GetAtt SlowQueue.Arn']
const BOTH_QUEUES = [...QUEUE, ...SLOW_QUEUE]
const RECEIVE = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']

const GRANTS: Readonly<Record<string, Grants>> = {
  ApiRole: {
    ...buildGrants(LOGS, ['GetAtt ApiLogs.Arn']),
    'sqs:SendMessage': BOTH_QUEUES,
    'secretsmanager:GetSecretValue': [
      'Ref StorePasswordSecretArn',
      'Ref KeysSecretArn',
      'Ref SigningKeySecretArn',
    ],
    ...KMS,
  },
  WorkerRole: {
    ...buildGrants(LOGS, ['GetAtt WorkerLogs.Arn']),
    'sqs:SendMessage': BOTH_QUEUES,
    ...buildGrants(RECEIVE, QUEUE),
    'secretsmanager:GetSecretValue': ['Ref StorePasswordSecretArn', 'Ref SigningKeySecretArn'],
    ...KMS,
  },
  SlowWorkerRole: {
    ...buildGrants(LOGS, ['GetAtt SlowWorkerLogs.Arn']),
    'sqs:SendMessage': BOTH_QUEUES,
    ...buildGrants(RECEIVE, SLOW_QUEUE),
    'secretsmanager:GetSecretValue': ['Ref StorePasswordSecretArn', 'Ref SigningKeySecretArn'],
    ...KMS,
  },
  SweeperRole: {
    ...buildGrants(LOGS, ['GetAtt SweeperLogs.Arn']),
    'sqs:SendMessage': QUEUE,
    'secretsmanager:GetSecretValue': ['Ref StorePasswordSecretArn'],
    ...KMS,
  },
  SweeperScheduleRole: { 'lambda:InvokeFunction': ['GetAtt SweeperFunction.Arn'] },
}

const INTERFACES = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
]

/** The resource of these statements may be `*`, for the given reason. */
const WILDCARDS: Readonly<Record<string, string>> = {
  NetworkInterfaces: 'Lambda makes interfaces with the role, and their ids are not known before',
  NetworkInterfacesNotFromCode: 'it refuses, and cannot refuse too much',
}

const TRUST: Readonly<Record<string, string>> = {
  ApiRole: 'lambda.amazonaws.com',
  WorkerRole: 'lambda.amazonaws.com',
  SlowWorkerRole: 'lambda.amazonaws.com',
  SweeperRole: 'lambda.amazonaws.com',
  SweeperScheduleRole: 'scheduler.amazonaws.com',
}

interface Statement {
  readonly Sid: string
  readonly Effect: string
  readonly Principal?: unknown
  readonly Action?: string | readonly string[]
  readonly Resource?: unknown
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** Checks that every role may do what its function needs, and nothing else. */
export function checkPolicies(template: Template): Fault[] {
  return [
    ...findResources(template, 'AWS::IAM::Role').flatMap(([name, { Properties }]) => [
      ...findRoleFaults(name, Properties),
      ...listRoleStatements(Properties).flatMap((statement) => findStatementFaults(name, statement)),
    ]),
    ...findResources(template, 'AWS::IAM::ManagedPolicy').flatMap(([name, { Properties }]) =>
      findNetworkFaults(template, name, Properties),
    ),
    ...['AWS::IAM::Policy', 'AWS::IAM::UserPolicy', 'AWS::IAM::RolePolicy'].flatMap((type) =>
      findResources(template, type).map(([name]) =>
        toFault('policies-in-roles', `${name} is written outside a role`),
      ),
    ),
  ]
}

function findRoleFaults(name: string, properties: Properties): Fault[] {
  const expected = GRANTS[name]
  if (expected === undefined) return [toFault('roles-are-known', `${name} is not in the list of grants`)]
  return [
    ...findGrantFaults(name, expected, properties),
    ...findTrustFaults(name, properties),
    ...findAttachedPolicyFaults(name, properties),
  ]
}

function findGrantFaults(name: string, expected: Grants, properties: Properties): Fault[] {
  const wanted = listPairs(expected)
  const found = listRoleStatements(properties).flatMap(({ Action, Resource }) =>
    toList(Action).flatMap((action) => nameResources(Resource).map((resource) => `${action} on ${resource}`)),
  )
  return [
    ...found
      .filter((pair) => !wanted.includes(pair))
      .map((pair) => toFault('least-privilege', `${name} may ${pair}`)),
    ...wanted
      .filter((pair) => !found.includes(pair))
      .map((pair) => toFault('enough-privilege', `${name} may not ${pair}`)),
  ]
}

function findTrustFaults(name: string, { AssumeRolePolicyDocument }: Properties): Fault[] {
  const service = TRUST[name]
  return listStatements(AssumeRolePolicyDocument)
    .filter(({ Principal }) => JSON.stringify(Principal) !== JSON.stringify({ Service: service }))
    .map(() => toFault('trust', `${name} does not trust ${service} alone`))
}

/** Only the project's own policy may be attached, since it is checked here. Amazon's policies have wildcards. */
function findAttachedPolicyFaults(name: string, { ManagedPolicyArns }: Properties): Fault[] {
  const own = { 'Fn::If': ['IsInVpc', [{ Ref: 'NetworkPolicy' }], { Ref: 'AWS::NoValue' }] }
  if (ManagedPolicyArns === undefined || JSON.stringify(ManagedPolicyArns) === JSON.stringify(own)) return []
  return [toFault('no-managed-policies', `${name} has policies that are not written out here`)]
}

function findStatementFaults(owner: string, statement: Statement): Fault[] {
  const where = `${owner}, ${statement.Sid}`
  const faults = findWildcardFaults(where, statement)
  if (statement.Effect !== 'Allow') faults.push(toFault('effects', `the effect of ${where} is not Allow`))
  const service = toList(statement.Action).some((action) => String(action).startsWith('kms:'))
    ? `${statement.Sid === 'QueueKey' ? 'sqs' : 'secretsmanager'}.\${AWS::Region}.amazonaws.com`
    : undefined
  const via = JSON.stringify(statement.Condition?.StringEquals?.['kms:ViaService'])
  if (service !== undefined && via !== JSON.stringify({ 'Fn::Sub': service })) {
    faults.push(toFault('keys-by-service', `${where} may use a key other than through ${service}`))
  }
  return faults
}

function findWildcardFaults(where: string, statement: Statement): Fault[] {
  const faults: Fault[] = []
  if ('NotAction' in statement || 'NotResource' in statement || 'NotPrincipal' in statement) {
    faults.push(toFault('no-negations', `${where} grants everything with exceptions`))
  }
  if (toList(statement.Action).some((action) => String(action).includes('*'))) {
    faults.push(toFault('no-wildcards', `${where} has a * in an action`))
  }
  if (JSON.stringify(statement.Resource ?? '').includes('*') && !(statement.Sid in WILDCARDS)) {
    faults.push(toFault('no-wildcards', `${where} has a * in a resource`))
  }
  return faults
}

/** Checks the only policy with a `*`: it allows exactly Lambda's actions, and denies them to the functions' own code. */
function findNetworkFaults(template: Template, name: string, { PolicyDocument }: Properties): Fault[] {
  if (name !== 'NetworkPolicy') return [toFault('policies-in-roles', `${name} is written outside a role`)]
  const [allow, deny, ...more] = listStatements(PolicyDocument)
  const faults = listStatements(PolicyDocument).flatMap((statement) => findWildcardFaults(name, statement))
  const isExact = [allow, deny].every(
    (statement) =>
      JSON.stringify(statement?.Action) === JSON.stringify(INTERFACES) && statement?.Resource === '*',
  )
  if (!isExact || allow?.Effect !== 'Allow' || deny?.Effect !== 'Deny' || more.length > 0) {
    faults.push(
      toFault('network', `${name} must allow exactly what Lambda needs, and refuse the same to code`),
    )
  }
  const refused = JSON.stringify(deny?.Condition?.ArnEquals?.['lambda:SourceFunctionArn'] ?? [])
  for (const [owner, { Properties }] of findResources(template, 'AWS::Serverless::Function')) {
    const { 'Fn::Sub': functionName } = Properties.FunctionName as { readonly 'Fn::Sub': string }
    if (!refused.includes(`:function:${functionName}"`)) {
      faults.push(toFault('network', `${name} lets the code of ${owner} change the network`))
    }
  }
  return faults
}

export function listStatements(document: unknown): readonly Statement[] {
  const { Statement } = document as { readonly Statement: readonly unknown[] }
  return Statement.flatMap(listPossibleValues) as readonly Statement[]
}

function listRoleStatements({ Policies }: Properties): readonly Statement[] {
  return (Policies as readonly Properties[]).flatMap(({ PolicyDocument }) => listStatements(PolicyDocument))
}

/** Lists both sides of a condition, since the parameters may choose either. */
function listPossibleValues(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  if ('Fn::If' in value) return (value['Fn::If'] as readonly unknown[]).slice(1).flatMap(listPossibleValues)
  return 'Ref' in value && value.Ref === 'AWS::NoValue' ? [] : [value]
}

/** Names a resource as briefly as `GRANTS` does. Any other form is written as JSON. */
function nameResources(resource: unknown): readonly string[] {
  return toList(resource)
    .flatMap(listPossibleValues)
    .map((one) => {
      if (typeof one !== 'object' || one === null) return String(one)
      if ('Ref' in one) return `Ref ${one.Ref}`
      return 'Fn::GetAtt' in one ? `GetAtt ${toList(one['Fn::GetAtt']).join('.')}` : JSON.stringify(one)
    })
}

function buildGrants(actions: readonly string[], resources: readonly string[]): Grants {
  return Object.fromEntries(actions.map((action) => [action, resources]))
}

function listPairs(expected: Grants): readonly string[] {
  return Object.entries(expected).flatMap(([action, resources]) =>
    resources.map((resource) => `${action} on ${resource}`),
  )
}

function toFault(rule: string, detail: string): Fault {
  return { rule, detail }
}
