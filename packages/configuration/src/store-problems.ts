import { isIP } from 'node:net'
import { isLoopback } from './loopback.ts'
import type { Sources } from './read-values.ts'
import type { Spelling } from './spelling.ts'
import type { StoreValues } from './store-config.ts'
import type { GivenPassword } from './store-password.ts'
import { STORE_SETTINGS } from './store-settings.ts'
import { isTlsScheme, type ServerTarget, type StoreTarget, urlOf } from './store-target.ts'

/** Where the settings of a store came from. */
export interface StoreSources {
  readonly sources: Sources
  /** Given, or to come from where its variable says. */
  readonly password: Pick<GivenPassword, 'variable'> | undefined
  readonly spell: Spelling
}

type TlsSources = Pick<StoreSources, 'sources' | 'spell'>
type WarnedValues = Pick<StoreValues, 'store' | 'storeAcceptClassC' | 'storeTls'>

export const EMBEDDED_ON_LAMBDA =
  'The embedded store is refused on Lambda: its disk is lost with the function.'

/** What is wrong between the store and what was set for it. */
export function storeProblems(
  values: Partial<StoreValues>,
  { sources, password, spell }: StoreSources,
): readonly string[] {
  const { store } = values
  if (store === undefined) return []
  return [
    ...settingsInVain(store, sources),
    ...passwordProblems(store, sources, password),
    ...(store.family === 'sqlite' ? [] : tlsProblems(store, values, { sources, spell })),
  ]
}

export function storeWarnings(values: WarnedValues, sources: Sources): readonly string[] {
  const { store } = values
  if (store.family === 'sqlite') return []
  const warnings: string[] = []
  if (store.password !== undefined && sources.get('store') === '--store') {
    warnings.push(
      'The password in --store shows in the list of processes at start; ' +
        'give it by COUNTERSTEP_STORE_PASSWORD or COUNTERSTEP_STORE_PASSWORD_FILE.',
    )
  }
  if (values.storeAcceptClassC) {
    warnings.push(
      `${sources.get('storeAcceptClassC')} is on: the server starts even on a store ` +
        'that may lose or evict what it acknowledged.',
    )
  }
  if (values.storeTls === 'off' && !store.hosts.split(',').every(isLocal)) {
    warnings.push(
      `${sources.get('storeTls')} is off: the store's password and every payload travel in clear text.`,
    )
  }
  return warnings
}

/** With its port, and an IPv6 address in brackets. */
function isLocal(host: string): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1'))
}

function settingsInVain(store: StoreTarget, sources: Sources): string[] {
  return [...sources].flatMap(([name, source]) => {
    const stores = isStoreSetting(name) ? STORE_SETTINGS[name].stores : undefined
    if (stores === undefined || stores.includes(store.family)) return []
    return [`${source} is for ${stores.join(' and ')}, and the store is ${store.family}.`]
  })
}

function isStoreSetting(name: string): name is keyof typeof STORE_SETTINGS {
  return Object.hasOwn(STORE_SETTINGS, name)
}

function passwordProblems(
  store: StoreTarget,
  sources: Sources,
  password: StoreSources['password'],
): string[] {
  const source = sources.get('store')
  if (store.family === 'sqlite') {
    return password === undefined ? [] : [`${password.variable} is set, and a sqlite store has no password.`]
  }
  if (password !== undefined && store.password !== undefined) {
    return [`${source} has a password, and ${password.variable} is set, too; give one.`]
  }
  // Else a password in the wrong place, redis://SECRET@host, would be shown as the user that it was taken for.
  if (
    store.family === 'redis' &&
    store.user !== '' &&
    password === undefined &&
    store.password === undefined
  ) {
    return [`${source} names a user without a password; a password alone is written redis://:PASSWORD@HOST.`]
  }
  return []
}

function tlsProblems(store: ServerTarget, values: Partial<StoreValues>, from: TlsSources): string[] {
  const { sources } = from
  if (values.storeTls !== 'off') return namelessProblems(store, values, from)
  const inVain = (['storeTlsCa', 'storeTlsServerName'] as const).filter((name) => values[name] !== undefined)
  const contradictions = [
    ...(isTlsScheme(store.scheme) ? [`${store.scheme}:// means TLS`] : []),
    ...inVain.map((name) => `${sources.get(name)} is set`),
  ]
  return contradictions.map((contradiction) => `${sources.get('storeTls')} is off, and ${contradiction}.`)
}

/** The MySQL driver checks a certificate against a name only. */
function namelessProblems(
  store: ServerTarget,
  values: Partial<StoreValues>,
  { sources, spell }: TlsSources,
): string[] {
  if (store.family !== 'mysql' || values.storeTlsServerName !== undefined) return []
  const host = new URL(urlOf(store, undefined)).hostname.replace(/^\[(.*)\]$/, '$1')
  const wantsTls = values.storeTls === 'required' || values.storeTlsCa !== undefined || !isLoopback(host)
  if (isIP(host) === 0 || !wantsTls) return []
  return [
    `${sources.get('store')} has an address, and the certificate is checked against a name: ` +
      `give ${spell(STORE_SETTINGS.storeTlsServerName)}, or a URL with a name, or ` +
      `${spell(STORE_SETTINGS.storeTls, 'off')}.`,
  ]
}
