import { resolveTemplate } from './resolve-template.ts'
import { type Fault, findResources, type Properties, type Template } from './template.ts'

export interface Bundles {
  /** Below functions/dist. */
  readonly folders: readonly string[]
  /** Whether some function reads an environment variable. */
  readonly reads: (variable: string) => boolean
}

const RUNTIME = 'nodejs24.x'
const ARCHITECTURES = ['arm64']
const HANDLER = 'index.handler'
const CODE = '../../functions/dist/'
/** The limit that AWS sets for a function. */
const TIMEOUT_SECONDS_MAX = 900

const FUNCTIONS = ['api', 'worker', 'sweeper'] as const

/** The functions are the bundles, run as they were tested, and are told what they read. */
export function checkFunctions(template: Template, bundles: Bundles): Fault[] {
  const functions = findResources(template, 'AWS::Serverless::Function')
  const code = functions.map(([, { Properties }]) => String(Properties.CodeUri))
  const wanted = bundles.folders.map((folder) => `${CODE}${folder}`)
  return [
    ...[...new Set([...code, ...wanted])]
      .filter((path) => !code.includes(path) || !wanted.includes(path))
      .map((path) => fault('bundles', `${path} is not both built and deployed`)),
    ...globalFaults(template.Globals.Function),
    ...functions.flatMap(([name, { Properties }]) => functionFaults(template, name, Properties)),
    ...findResources(template, 'AWS::Lambda::Function').map(([name]) =>
      fault('bundles', `${name} is a function without its part of the globals`),
    ),
    ...unreadVariables(template, bundles.reads),
    ...recursionFaults(template),
  ]
}

function globalFaults({ Runtime, Architectures, Handler }: Properties): Fault[] {
  return [
    ...(Runtime === RUNTIME ? [] : [fault('runtime', `runtime ${Runtime} instead of ${RUNTIME}`)]),
    ...(JSON.stringify(Architectures) === JSON.stringify(ARCHITECTURES)
      ? []
      : [fault('runtime', `architectures ${JSON.stringify(Architectures)}`)]),
    ...(Handler === HANDLER ? [] : [fault('runtime', `handler ${Handler}`)]),
  ]
}

function functionFaults({ Parameters, Resources }: Template, name: string, properties: Properties): Fault[] {
  const faults: Fault[] = []
  const role = name.replace(/Function$/, 'Role')
  if (JSON.stringify(properties.Role) !== JSON.stringify({ 'Fn::GetAtt': [role, 'Arn'] })) {
    faults.push(fault('own-role', `${name} does not have ${role}`))
  }
  for (const property of ['Runtime', 'Architectures', 'Handler', 'VpcConfig', 'Policies'])
    if (property in properties) faults.push(fault('globals', `${name} has ${property} of its own`))
  if (properties.ReservedConcurrentExecutions === undefined) {
    faults.push(fault('bounded', `${name} may open any number of connections`))
  }
  const timeout = properties.Timeout as number | { readonly Ref: string }
  const parameter = typeof timeout === 'object' ? Parameters[timeout.Ref] : undefined
  const longest = [timeout, parameter?.MaxValue, ...(parameter?.AllowedValues ?? [])].filter(Number.isFinite)
  if (longest.length === 0 || Math.max(...longest.map(Number)) > TIMEOUT_SECONDS_MAX) {
    faults.push(fault('bounded', `${name} may run longer than ${TIMEOUT_SECONDS_MAX} s`))
  }
  const { LogGroup } = (properties.LoggingConfig ?? {}) as { readonly LogGroup?: { readonly Ref: string } }
  if (Resources[LogGroup?.Ref ?? '']?.Properties.RetentionInDays === undefined) {
    faults.push(fault('logs', `${name} keeps its logs for ever`))
  }
  return faults
}

function unreadVariables(template: Template, reads: Bundles['reads']): Fault[] {
  const places = [template.Globals.Function, ...FUNCTIONS.map((name) => getProperties(template, name))]
  const set = places.flatMap(({ Environment }) =>
    Object.keys((Environment as { readonly Variables?: Properties } | undefined)?.Variables ?? {}),
  )
  return set
    .filter((variable) => !reads(variable))
    .map((variable) => fault('variables', `no function reads ${variable}`))
}

/** The worker asks itself for a later look; nothing else calls itself, and there the guard of AWS stays. */
function recursionFaults(template: Template): Fault[] {
  return FUNCTIONS.filter((name) => {
    const { RecursiveLoop } = getProperties(template, name)
    return name === 'worker' ? RecursiveLoop !== 'Allow' : RecursiveLoop !== undefined
  }).map((name) => fault('recursion', `${name} must ${name === 'worker' ? '' : 'not '}allow its loop`))
}

function getProperties({ Resources }: Template, name: (typeof FUNCTIONS)[number]): Properties {
  return Resources[`${name.slice(0, 1).toUpperCase()}${name.slice(1)}Function`]?.Properties ?? {}
}

/** Checks under these parameters that a function may read exactly the secrets that it is told of. */
export function checkSecrets(template: Template, parameters: Readonly<Record<string, string>>): Fault[] {
  const { Resources, environments } = resolveTemplate(template, parameters)
  return Object.entries(environments).flatMap(([name, variables]) => {
    const named = Object.entries(variables)
      .filter(([variable]) => variable.endsWith('_SECRET'))
      .map(([, arn]) => arn)
    const readable = readableSecrets(Resources[name.replace(/Function$/, 'Role')]?.Properties ?? {})
    return [...new Set([...named, ...readable])]
      .filter((arn) => !named.includes(arn) || !readable.includes(arn))
      .map((arn) => fault('secrets', `${name}: ${String(arn)} is not both named and readable`))
  })
}

interface SecretStatement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
}

function readableSecrets({ Policies }: Properties): readonly unknown[] {
  return (
    Policies as readonly { readonly PolicyDocument: { readonly Statement: readonly SecretStatement[] } }[]
  )
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => Action === 'secretsmanager:GetSecretValue')
    .flatMap(({ Resource }) => Resource)
}

function fault(rule: string, detail: string): Fault {
  return { rule, detail }
}
