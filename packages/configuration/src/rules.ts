import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { isForOthers, isLoopback } from './loopback.ts'
import type { Environment, Sources } from './read-settings.ts'
import { readServiceTls, type ServiceValues } from './service-tls.ts'
import { type FunctionValues, SETTINGS, type SettingName, type SettingValues } from './settings.ts'
import { asFlag, asVariable, type Spelling } from './spelling.ts'
import { type GivenPassword, PASSWORD_SECRET_VARIABLE } from './store-password.ts'
import { buildStoreUrl, isTlsScheme, type ServerTarget, type StoreTarget } from './store-target.ts'

// These rules hold between settings, so that no schema of one setting can check them. A value that is wrong by itself
// has been reported already and is absent here, so each rule applies only where all values that it needs are known.

/** Stands for a password that is given, or that comes later from the secret that its variable names. */
type Promised = Pick<GivenPassword, 'variable'> | undefined
type ServerValues = Partial<SettingValues>
type StoreValues = Pick<SettingValues, 'store' | 'storeTls' | 'storeTlsCa' | 'storeTlsServerName'>
type SharedValues = Partial<Pick<SettingValues, SettingName & keyof FunctionValues>>

/** The role of a function. Only the api is called over HTTP, and only a sweeper with a queue calls no branch. */
export type FunctionRole = 'api' | 'worker' | 'sweeper'

const EMBEDDED_ON_LAMBDA = 'The embedded store is refused on Lambda: its disk is lost with the function.'
/**
 * A server reads these files, and a function cannot. If it ignored them, it would ask for no keys, or sign no calls,
 * against the user's will.
 */
const SECRETS_FOR_FILES = { keysFile: 'keysSecret', signingKeyFile: 'signingKeySecret' } as const

/** Lists the problems between the settings of `counterstep serve`, except those of its store. */
export function findServerProblems(values: ServerValues, isOnLambda: boolean): string[] {
  const { host, store } = values
  return [
    ...findAccessProblems(values),
    ...findEngineProblems(values, asFlag),
    ...findServiceTlsProblems(values),
    ...findGrpcTlsProblems(values),
    ...findAlertProblems(values),
    ...(store?.family === 'sqlite' && isOnLambda ? [EMBEDDED_ON_LAMBDA] : []),
    ...(host === undefined || isLoopback(host)
      ? []
      : findTargetProblems(values, '--host is no loopback address', asFlag)),
  ]
}

interface FunctionSources {
  readonly sources: Sources
  readonly password: Promised
  readonly environment: Environment
  readonly hasOwnBranches: boolean
}

/** Lists the problems between the settings of a function. */
export function findFunctionProblems(
  role: FunctionRole,
  values: Partial<FunctionValues>,
  { sources, password, environment, hasOwnBranches }: FunctionSources,
): string[] {
  const { storePasswordSecret, store, queueUrl } = values
  const isSecret = storePasswordSecret !== undefined
  const promised = isSecret ? { variable: PASSWORD_SECRET_VARIABLE } : password
  return [
    ...(store?.family === 'sqlite'
      ? [`${asVariable('store')} must be a URL, mysql://…, postgres://… or redis://…. ${EMBEDDED_ON_LAMBDA}`]
      : [
          ...(isSecret && password !== undefined
            ? [`${PASSWORD_SECRET_VARIABLE} and ${password.variable} are both set; set one.`]
            : []),
          ...findStoreProblems(values, sources, promised, asVariable),
        ]),
    ...(role === 'api' ? findFunctionAccessProblems(values) : []),
    ...findQueueProblems(values),
    ...findEngineProblems(values, asVariable),
    ...(hasOwnBranches || (role === 'sweeper' && queueUrl !== undefined)
      ? []
      : findTargetProblems(values, 'Whoever may submit names the URLs that a function calls', asVariable)),
    ...Object.entries(SECRETS_FOR_FILES)
      .map(
        ([file, secret]) => [asVariable(file as keyof typeof SECRETS_FOR_FILES), asVariable(secret)] as const,
      )
      .filter(([file]) => (environment[file] ?? '') !== '')
      .map(([file, secret]) => `${file} is a server's, and a function keeps no file: set ${secret}.`),
  ]
}

/** Lists the problems between the store and the settings for it. */
export function findStoreProblems(
  values: Partial<StoreValues>,
  sources: Sources,
  password: Promised,
  spell: Spelling,
): string[] {
  const { store } = values
  if (store === undefined) return []
  return [
    ...findSettingsInVain(store, sources),
    ...findPasswordProblems(store, sources.get('store'), password),
    ...(store.family === 'sqlite' ? [] : findTlsProblems(store, values, sources)),
    ...(store.family === 'mysql' || store.family === 'postgres'
      ? findNamelessProblems(store, values, sources.get('store'), spell)
      : []),
  ]
}

function findAccessProblems(values: ServerValues): string[] {
  const { host, allowedHosts, keysFile, insecureNoKeys, dtmNetworksScopes } = values
  const hasKeys = keysFile !== undefined
  const problems: string[] = []
  if (host !== undefined && isForOthers({ host, allowedHosts }) && !hasKeys && insecureNoKeys === false) {
    const name = isLoopback(host) ? `--allowed-hosts ${allowedHosts?.join(',')}` : `--host ${host}`
    problems.push(
      `${name} is reached by others, and there are no keys: make one by ` +
        'counterstep keys create --keys-file FILE --name NAME --scopes submit,read and serve with ' +
        '--keys-file FILE; or say --insecure-no-keys, if nobody else can get there.',
    )
  }
  if (hasKeys && insecureNoKeys === true) problems.push('--insecure-no-keys contradicts --keys-file.')
  const hasNoNetworks = 'dtmNetworks' in values && values.dtmNetworks === undefined
  if (hasNoNetworks && dtmNetworksScopes !== undefined && dtmNetworksScopes.join() !== 'submit')
    problems.push('--dtm-networks-scopes is of use only with --dtm-networks.')
  // Without keys these settings have no effect, and a user who sets them believes that there are keys.
  const forKeys = ['dtmNetworks', 'ratePerKey', 'dailySubmitsPerKey', 'dailyBytesPerKey'] as const
  for (const name of forKeys)
    if (!hasKeys && values[name] !== undefined)
      problems.push(`${asFlag(name)} is of use only with --keys-file.`)
  return problems
}

/** Every caller that knows the URL of a function reaches it, unless an authorizer checks callers first. */
function findFunctionAccessProblems(values: Partial<FunctionValues>): string[] {
  const { keysSecret, authorizer, insecureNoKeys, ratePerKey } = values
  if (!('keysSecret' in values) || !('authorizer' in values)) return []
  const problems: string[] = []
  if (keysSecret === undefined && authorizer === undefined && insecureNoKeys === false) {
    problems.push(
      'A function is reached by others, and there are no keys: keep the file of counterstep keys create in Secrets ' +
        'Manager and name that secret by COUNTERSTEP_KEYS_SECRET; or say who checks callers before it, by ' +
        'COUNTERSTEP_AUTHORIZER=iam or jwt; or say COUNTERSTEP_INSECURE_NO_KEYS=true, if nobody else can get there.',
    )
  }
  for (const name of ['keysSecret', 'authorizer'] as const)
    if (values[name] !== undefined && insecureNoKeys === true)
      problems.push(`COUNTERSTEP_INSECURE_NO_KEYS contradicts ${asVariable(name)}.`)
  if (keysSecret === undefined && ratePerKey !== undefined)
    problems.push('COUNTERSTEP_RATE_PER_KEY is of use only with COUNTERSTEP_KEYS_SECRET.')
  return problems
}

/** Without these rules the calls that are left to the slow queue would go nowhere, or be left again and again. */
function findQueueProblems(values: Partial<FunctionValues>): string[] {
  const { queueUrl, slowQueueUrl, quickCallMs } = values
  const problems: string[] = []
  if ('slowQueueUrl' in values && quickCallMs !== undefined && slowQueueUrl === undefined)
    problems.push(
      'COUNTERSTEP_QUICK_CALL_MS leaves longer calls to another function, so name its queue by COUNTERSTEP_SLOW_QUEUE_URL.',
    )
  if (slowQueueUrl !== undefined && slowQueueUrl === queueUrl)
    problems.push('COUNTERSTEP_SLOW_QUEUE_URL must be another queue than COUNTERSTEP_QUEUE_URL.')
  return problems
}

function findEngineProblems(
  values: SharedValues & Pick<ServerValues, 'pollMs' | 'leaseMs'>,
  spell: Spelling,
) {
  const ordered = [
    ['retryInitialMs', 'retryCapMs'],
    ['pollMs', 'leaseMs'],
    ['branchTimeoutMs', 'timeoutMsMax'],
  ] as const
  return ordered
    .filter(([least, most]) => (values[least] ?? 0) > (values[most] ?? Number.POSITIVE_INFINITY))
    .map(([least, most]) => {
      const [low, high] = [`${spell(least)} (${values[least]})`, `${spell(most)} (${values[most]})`]
      return `${low} must not be over ${high}.`
    })
}

/**
 * A caller could make a server call every address that the server reaches. So where other machines reach it, the user has
 * to set first where it may call. `reason` says why others reach it.
 */
function findTargetProblems(values: SharedValues, reason: string, spell: Spelling): string[] {
  const { services, allowTargets, allowAnyTarget } = values
  if (services?.length !== 0 || allowTargets?.length !== 0 || allowAnyTarget !== false) return []
  return [
    `${reason}, so say where branches may be called: ` +
      `${spell('services', 'bank=https://bank.example')} (then bank:/debit), ` +
      `${spell('allowTargets', 'https://bank.example,http://10.0.0.5:8080')}, or, insecure, ` +
      `${spell('allowAnyTarget', 'true')}.`,
  ]
}

/** A service of the same name would be called in place of the webhook, or the webhook in its place. */
function findAlertProblems({ services, alertsFile }: ServerValues): string[] {
  const taken = alertsFile?.targets.filter(({ service }) =>
    services?.some(({ name }) => name === service.name),
  )
  return (taken ?? []).map(
    ({ name, service }) =>
      `${asFlag('services')} names ${service.name}, which is the service of the target ${name} of ${asFlag('alertsFile')}.`,
  )
}

/** Refuses at the start certificates that no service would be called with, or that cannot be used. */
function findServiceTlsProblems({ services, serviceCa, serviceCert, serviceKey }: ServerValues): string[] {
  if (!services || !serviceCa || !serviceCert || !serviceKey) return []
  const known = { services, serviceCa, serviceCert, serviceKey }
  const named = new Map<string, SettingName>()
  for (const setting of ['serviceKey', 'serviceCert', 'serviceCa'] as const)
    for (const name of known[setting].keys()) named.set(name, setting)
  return [...named].flatMap(([name, setting]) => {
    const problem = findServiceProblem(known, name)
    return problem === undefined ? [] : [`${asFlag(setting)} names ${name}, ${problem}.`]
  })
}

function findGrpcTlsProblems(values: ServerValues): string[] {
  const { dtmGrpcPort, dtmGrpcCert: cert, dtmGrpcKey: key } = values
  // A file that cannot be read has a problem of its own.
  const isUnread = !('dtmGrpcCert' in values) || !('dtmGrpcKey' in values)
  if (isUnread || (cert === undefined && key === undefined)) return []
  if (cert === undefined || key === undefined)
    return [`${asFlag('dtmGrpcCert')} and ${asFlag('dtmGrpcKey')} must come together.`]
  if (dtmGrpcPort === 'off') return [`${asFlag('dtmGrpcCert')} is of use only with ${asFlag('dtmGrpcPort')}.`]
  try {
    createSecureContext({ cert, key })
    return []
  } catch (error: unknown) {
    if (!(error instanceof Error)) throw error
    return [
      `The files of ${asFlag('dtmGrpcCert')} and ${asFlag('dtmGrpcKey')} cannot be used (${error.message}).`,
    ]
  }
}

function findServiceProblem(values: ServiceValues, name: string): string | undefined {
  const { services, serviceCert, serviceKey } = values
  const service = services.find((each) => each.name === name)
  if (service === undefined) return 'which is no named service'
  if (!service.origin.startsWith('https:')) return 'which is not called by https'
  if (services.some((each) => each !== service && each.origin === service.origin))
    return 'whose origin is another service too, and certificates are by origin'
  if (serviceCert.has(name) !== serviceKey.has(name))
    return 'for which a certificate and its key must come together'
  try {
    createSecureContext(readServiceTls(values).get(service.origin))
    return undefined
  } catch (error: unknown) {
    if (!(error instanceof Error)) throw error
    return `whose files cannot be used (${error.message})`
  }
}

const LIST = new Intl.ListFormat('en-GB')

function findSettingsInVain(store: StoreTarget, sources: Sources): string[] {
  return [...sources].flatMap(([name, source]) => {
    const stores = isServerSetting(name) ? SETTINGS[name].stores : undefined
    if (stores === undefined || stores.includes(store.family)) return []
    return [`${source} is for ${LIST.format(stores)}, and the store is ${store.family}.`]
  })
}

function isServerSetting(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

function findPasswordProblems(store: StoreTarget, source: string | undefined, password: Promised): string[] {
  if (store.family === 'sqlite')
    return password === undefined ? [] : [`${password.variable} is set, and a sqlite store has no password.`]
  if (password !== undefined && store.password !== undefined)
    return [`${source} has a password, and ${password.variable} is set, too; give one.`]
  // Otherwise a password in the wrong place, redis://SECRET@host, would be taken for the user and shown.
  const isGiven = password !== undefined || store.password !== undefined
  return store.family === 'redis' && store.user !== '' && !isGiven
    ? [`${source} names a user without a password; a password alone is written redis://:PASSWORD@HOST.`]
    : []
}

function findTlsProblems({ scheme }: ServerTarget, values: Partial<StoreValues>, sources: Sources): string[] {
  if (values.storeTls !== 'off') return []
  const inVain = (['storeTlsCa', 'storeTlsServerName'] as const).filter((name) => values[name] !== undefined)
  const contradictions = [
    ...(isTlsScheme(scheme) ? [`${scheme}:// means TLS`] : []),
    ...inVain.map((name) => `${sources.get(name)} is set`),
  ]
  return contradictions.map((contradiction) => `${sources.get('storeTls')} is off, and ${contradiction}.`)
}

/** Refuses an address where TLS needs a name, because the drivers check a certificate only against a name. */
function findNamelessProblems(
  store: ServerTarget,
  { storeTls, storeTlsCa, storeTlsServerName }: Partial<StoreValues>,
  source: string | undefined,
  spell: Spelling,
): string[] {
  if (storeTls === 'off' || storeTlsServerName !== undefined) return []
  const host = new URL(buildStoreUrl(store, undefined)).hostname.replace(/^\[(.*)\]$/, '$1')
  const wantsTls = storeTls === 'required' || storeTlsCa !== undefined || !isLoopback(host)
  if (isIP(host) === 0 || !wantsTls) return []
  return [
    `${source} has an address, and the certificate is checked against a name: ` +
      `give ${spell('storeTlsServerName')}, or a URL with a name, or ${spell('storeTls', 'off')}.`,
  ]
}
