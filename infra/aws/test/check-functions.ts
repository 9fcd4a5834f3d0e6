import { resolveTemplate } from './resolve-template.ts'
import { type Fault, findResources, type Properties, type Template } from './template.ts'

export interface Bundles {
  /** The folders are below functions/dist. */
  readonly folders: readonly string[]
  /** It tells whether some function reads an environment variable. */
  readonly reads: (variable: string) => boolean
}

const RUNTIME = 'nodejs24.x'
const ARCHITECTURES = ['arm64']
const HANDLER = 'index.handler'
const CODE = '../../functions/dist/'
/** AWS allows a function at most this timeout. */
const TIMEOUT_SECONDS_MAX = 900

const FUNCTIONS = ['api', 'worker', 'slowWorker', 'sweeper'] as const
/** Calls may hold these functions only for a short time, and others are left to `slowWorker`. */
const QUICK_FUNCTIONS: readonly string[] = ['api', 'worker']

/** Checks that every bundle is deployed, runs as it was tested, and gets only variables that a function reads. */
export function checkFunctions(template: Template, bundles: Bundles): Fault[] {
  const functions = findResources(template, 'AWS::Serverless::Function')
  const code = functions.map(([, { Properties }]) => String(Properties.CodeUri))
  const wanted = bundles.folders.map((folder) => `${CODE}${folder}`)
  return [
    ...[...new Set([...code, ...wanted])]
      .filter((path) => !code.includes(path) || !wanted.includes(path))
      .map((path) => toFault('bundles', `${path} is not both built and deployed`)),
    ...findGlobalFaults(template.Globals.Function),
    ...functions.flatMap(([name, { Properties }]) => findFunctionFaults(template, name, Properties)),
    ...findResources(template, 'AWS::Lambda::Function').map(([name]) =>
      toFault('bundles', `${name} is a function without its part of the globals`),
    ),
    ...findUnreadVariables(template, bundles.reads),
    ...findRecursionFaults(template),
    ...findQuickFaults(template),
  ]
}

function findGlobalFaults({ Runtime, Architectures, Handler }: Properties): Fault[] {
  return [
    ...(Runtime === RUNTIME ? [] : [toFault('runtime', `runtime ${Runtime} instead of ${RUNTIME}`)]),
    ...(JSON.stringify(Architectures) === JSON.stringify(ARCHITECTURES)
      ? []
      : [toFault('runtime', `architectures ${JSON.stringify(Architectures)}`)]),
    ...(Handler === HANDLER ? [] : [toFault('runtime', `handler ${Handler}`)]),
  ]
}

function findFunctionFaults(
  { Parameters, Resources }: Template,
  name: string,
  properties: Properties,
): Fault[] {
  const faults: Fault[] = []
  const role = name.replace(/Function$/, 'Role')
  if (JSON.stringify(properties.Role) !== JSON.stringify({ 'Fn::GetAtt': [role, 'Arn'] })) {
    faults.push(toFault('own-role', `${name} does not have ${role}`))
  }
  for (const property of ['Runtime', 'Architectures', 'Handler', 'VpcConfig', 'Policies'])
    if (property in properties) faults.push(toFault('globals', `${name} has ${property} of its own`))
  if (properties.ReservedConcurrentExecutions === undefined) {
    faults.push(toFault('bounded', `${name} may open any number of connections`))
  }
  const timeout = properties.Timeout as number | { readonly Ref: string }
  const parameter = typeof timeout === 'object' ? Parameters[timeout.Ref] : undefined
  const longest = [timeout, parameter?.MaxValue, ...(parameter?.AllowedValues ?? [])].filter(Number.isFinite)
  if (longest.length === 0 || Math.max(...longest.map(Number)) > TIMEOUT_SECONDS_MAX) {
    faults.push(toFault('bounded', `${name} may run longer than ${TIMEOUT_SECONDS_MAX} s`))
  }
  const { LogGroup } = (properties.LoggingConfig ?? {}) as { readonly LogGroup?: { readonly Ref: string } }
  if (Resources[LogGroup?.Ref ?? '']?.Properties.RetentionInDays === undefined) {
    faults.push(toFault('logs', `${name} keeps its logs for ever`))
  }
  return faults
}

function findUnreadVariables(template: Template, reads: Bundles['reads']): Fault[] {
  const places = [template.Globals.Function, ...FUNCTIONS.map((name) => getProperties(template, name))]
  const set = places.flatMap(({ Environment }) =>
    Object.keys((Environment as { readonly Variables?: Properties } | undefined)?.Variables ?? {}),
  )
  return set
    .filter((variable) => !reads(variable))
    .map((variable) => toFault('variables', `no function reads ${variable}`))
}

/** A call that hangs must hold neither api nor worker, and must be made by some function. */
function findQuickFaults(template: Template): Fault[] {
  return FUNCTIONS.filter((name) => {
    const { Environment } = getProperties(template, name)
    const { Variables = {} } = (Environment ?? {}) as { readonly Variables?: Properties }
    const isBounded =
      JSON.stringify(Variables.COUNTERSTEP_QUICK_CALL_MS) === JSON.stringify({ Ref: 'QuickCallMs' })
    const knowsSlowQueue =
      JSON.stringify(Variables.COUNTERSTEP_SLOW_QUEUE_URL) === JSON.stringify({ Ref: 'SlowQueue' })
    return isBounded !== QUICK_FUNCTIONS.includes(name) || knowsSlowQueue !== (name !== 'sweeper')
  }).map((name) => toFault('quick-calls', `calls hold ${name} for another time than they may`))
}

/** Only the workers send themselves wake-up requests. For every other function AWS's guard against loops must stay on. */
function findRecursionFaults(template: Template): Fault[] {
  return FUNCTIONS.filter((name) => {
    const { RecursiveLoop } = getProperties(template, name)
    return isWorker(name) ? RecursiveLoop !== 'Allow' : RecursiveLoop !== undefined
  }).map((name) => toFault('recursion', `${name} must ${isWorker(name) ? '' : 'not '}allow its loop`))
}

function isWorker(name: (typeof FUNCTIONS)[number]): boolean {
  return name === 'worker' || name === 'slowWorker'
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
    const readable = listReadableSecrets(Resources[name.replace(/Function$/, 'Role')]?.Properties ?? {})
    return [...new Set([...named, ...readable])]
      .filter((arn) => !named.includes(arn) || !readable.includes(arn))
      .map((arn) => toFault('secrets', `${name}: ${String(arn)} is not both named and readable`))
  })
}

interface SecretStatement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
}

function listReadableSecrets({ Policies }: Properties): readonly unknown[] {
  return (
    Policies as readonly { readonly PolicyDocument: { readonly Statement: readonly SecretStatement[] } }[]
  )
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => Action === 'secretsmanager:GetSecretValue')
    .flatMap(({ Resource }) => Resource)
}

function toFault(rule: string, detail: string): Fault {
  return { rule, detail }
}
