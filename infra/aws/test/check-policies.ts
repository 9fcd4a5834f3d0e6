import { type Fault, findResources, type Properties, type Template, toList } from './template.ts'

/** The grants of each role, once for every parameter given: an action, and the resources that it may be done to. */
type Grants = Readonly<Record<string, readonly string[]>>

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents']
const KMS: Grants = {
  'kms:Decrypt': ['Ref SecretsKmsKeyArn', 'Ref QueueKmsKeyArn'],
  'kms:GenerateDataKey': ['Ref QueueKmsKeyArn'],
}
const QUEUE = ['GetAtt Queue.Arn']

const GRANTS: Readonly<Record<string, Grants>> = {
  ApiRole: {
    ...grants(LOGS, ['GetAtt ApiLogs.Arn']),
    'sqs:SendMessage': QUEUE,
    'secretsmanager:GetSecretValue': [
      'Ref StorePasswordSecretArn',
      'Ref KeysSecretArn',
      'Ref SigningKeySecretArn',
    ],
    ...KMS,
  },
  WorkerRole: {
    ...grants(LOGS, ['GetAtt WorkerLogs.Arn']),
    ...grants(
      ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
      QUEUE,
    ),
    'secretsmanager:GetSecretValue': ['Ref StorePasswordSecretArn', 'Ref SigningKeySecretArn'],
    ...KMS,
  },
  SweeperRole: {
    ...grants(LOGS, ['GetAtt SweeperLogs.Arn']),
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

/** Statements whose resource may be `*`, and why. */
const WILDCARDS: Readonly<Record<string, string>> = {
  NetworkInterfaces: 'Lambda makes interfaces with the role, and their ids are not known before',
  NetworkInterfacesNotFromCode: 'it refuses, and cannot refuse too much',
}

const TRUST: Readonly<Record<string, string>> = {
  ApiRole: 'lambda.amazonaws.com',
  WorkerRole: 'lambda.amazonaws.com',
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

/** Every role does what its function needs, and nothing else. */
export function checkPolicies(template: Template): Fault[] {
  return [
    ...findResources(template, 'AWS::IAM::Role').flatMap(([name, { Properties }]) => [
      ...roleFaults(name, Properties),
      ...statementsOfRole(Properties).flatMap((statement) => statementFaults(name, statement)),
    ]),
    ...findResources(template, 'AWS::IAM::ManagedPolicy').flatMap(([name, { Properties }]) =>
      networkFaults(template, name, Properties),
    ),
    ...['AWS::IAM::Policy', 'AWS::IAM::UserPolicy', 'AWS::IAM::RolePolicy'].flatMap((type) =>
      findResources(template, type).map(([name]) =>
        fault('policies-in-roles', `${name} stands outside its role`),
      ),
    ),
  ]
}

function roleFaults(name: string, properties: Properties): Fault[] {
  const expected = GRANTS[name]
  if (expected === undefined) return [fault('roles-are-known', `nobody said what ${name} is for`)]
  return [
    ...grantFaults(name, expected, properties),
    ...trustFaults(name, properties),
    ...attached(name, properties),
  ]
}

function grantFaults(name: string, expected: Grants, properties: Properties): Fault[] {
  const wanted = listPairs(expected)
  const found = statementsOfRole(properties).flatMap(({ Action, Resource }) =>
    toList(Action).flatMap((action) => resourceNames(Resource).map((resource) => `${action} on ${resource}`)),
  )
  return [
    ...found
      .filter((pair) => !wanted.includes(pair))
      .map((pair) => fault('least-privilege', `${name} may ${pair}`)),
    ...wanted
      .filter((pair) => !found.includes(pair))
      .map((pair) => fault('enough-privilege', `${name} may not ${pair}`)),
  ]
}

function trustFaults(name: string, { AssumeRolePolicyDocument }: Properties): Fault[] {
  const service = TRUST[name]
  return statements(AssumeRolePolicyDocument)
    .filter(({ Principal }) => JSON.stringify(Principal) !== JSON.stringify({ Service: service }))
    .map(() => fault('trust', `${name} trusts others than ${service}`))
}

/** Only the project's own policy, which is checked here; Amazon's have wildcards in them. */
function attached(name: string, { ManagedPolicyArns }: Properties): Fault[] {
  const own = { 'Fn::If': ['IsInVpc', [{ Ref: 'NetworkPolicy' }], { Ref: 'AWS::NoValue' }] }
  if (ManagedPolicyArns === undefined || JSON.stringify(ManagedPolicyArns) === JSON.stringify(own)) return []
  return [fault('no-managed-policies', `${name} has policies that are not written out here`)]
}

function statementFaults(owner: string, statement: Statement): Fault[] {
  const where = `${owner}, ${statement.Sid}`
  const faults = wildcardFaults(where, statement)
  if (statement.Effect !== 'Allow') faults.push(fault('effects', `${where} is no Allow`))
  const service = toList(statement.Action).some((action) => String(action).startsWith('kms:'))
    ? `${statement.Sid === 'QueueKey' ? 'sqs' : 'secretsmanager'}.\${AWS::Region}.amazonaws.com`
    : undefined
  const via = JSON.stringify(statement.Condition?.StringEquals?.['kms:ViaService'])
  if (service !== undefined && via !== JSON.stringify({ 'Fn::Sub': service })) {
    faults.push(fault('keys-by-service', `${where} may use a key other than through ${service}`))
  }
  return faults
}

function wildcardFaults(where: string, statement: Statement): Fault[] {
  const faults: Fault[] = []
  if ('NotAction' in statement || 'NotResource' in statement || 'NotPrincipal' in statement) {
    faults.push(fault('no-negations', `${where} says what is not meant`))
  }
  if (toList(statement.Action).some((action) => String(action).includes('*'))) {
    faults.push(fault('no-wildcards', `${where} has a * in an action`))
  }
  if (JSON.stringify(statement.Resource ?? '').includes('*') && !(statement.Sid in WILDCARDS)) {
    faults.push(fault('no-wildcards', `${where} has a * in a resource`))
  }
  return faults
}

/** The one policy with a `*`: exactly Lambda's actions, and none of them for the functions' own code. */
function networkFaults(template: Template, name: string, { PolicyDocument }: Properties): Fault[] {
  if (name !== 'NetworkPolicy') return [fault('policies-in-roles', `${name} stands outside its role`)]
  const [allow, deny, ...more] = statements(PolicyDocument)
  const faults = statements(PolicyDocument).flatMap((statement) => wildcardFaults(name, statement))
  const isExact = [allow, deny].every(
    (statement) =>
      JSON.stringify(statement?.Action) === JSON.stringify(INTERFACES) && statement?.Resource === '*',
  )
  if (!isExact || allow?.Effect !== 'Allow' || deny?.Effect !== 'Deny' || more.length > 0) {
    faults.push(fault('network', `${name} must allow exactly what Lambda needs, and refuse the same to code`))
  }
  const refused = JSON.stringify(deny?.Condition?.ArnEquals?.['lambda:SourceFunctionArn'] ?? [])
  for (const [owner, { Properties }] of findResources(template, 'AWS::Serverless::Function')) {
    const { 'Fn::Sub': functionName } = Properties.FunctionName as { readonly 'Fn::Sub': string }
    if (!refused.includes(`:function:${functionName}"`)) {
      faults.push(fault('network', `${name} lets the code of ${owner} change the network`))
    }
  }
  return faults
}

export function statements(document: unknown): readonly Statement[] {
  const { Statement } = document as { readonly Statement: readonly unknown[] }
  return Statement.flatMap(branches) as readonly Statement[]
}

function statementsOfRole({ Policies }: Properties): readonly Statement[] {
  return (Policies as readonly Properties[]).flatMap(({ PolicyDocument }) => statements(PolicyDocument))
}

/** Both sides of a condition, since either may come to be. */
function branches(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  if ('Fn::If' in value) return (value['Fn::If'] as readonly unknown[]).slice(1).flatMap(branches)
  return 'Ref' in value && value.Ref === 'AWS::NoValue' ? [] : [value]
}

/** Names a resource as briefly as `GRANTS` does; any other form is written as JSON. */
function resourceNames(resource: unknown): readonly string[] {
  return toList(resource)
    .flatMap(branches)
    .map((one) => {
      if (typeof one !== 'object' || one === null) return String(one)
      if ('Ref' in one) return `Ref ${one.Ref}`
      return 'Fn::GetAtt' in one ? `GetAtt ${toList(one['Fn::GetAtt']).join('.')}` : JSON.stringify(one)
    })
}

function grants(actions: readonly string[], resources: readonly string[]): Grants {
  return Object.fromEntries(actions.map((action) => [action, resources]))
}

function listPairs(expected: Grants): readonly string[] {
  return Object.entries(expected).flatMap(([action, resources]) =>
    resources.map((resource) => `${action} on ${resource}`),
  )
}

function fault(rule: string, detail: string): Fault {
  return { rule, detail }
}
