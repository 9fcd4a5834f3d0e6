/** Reads the file that says who is told of what. Its URLs are secrets, so no problem quotes a value. */
import type { NamedService, Parsed } from '@counterstep/branch-http/targets'
import { parseEndpoint } from '@counterstep/branch-http/targets'
import {
  ALERT_FORMATS,
  ALERT_RULES,
  type AlertFormat,
  type AlertRule,
  isName,
  isTagKey,
  isTagValue,
  NAME_RULE,
  TAGS_MAX,
} from '@counterstep/protocol'
import { findJsonFault } from '../json-fault.ts'
import { readSecretFile } from '../secret-file.ts'
import { type Fields, FileFaults, isRecord } from './file-faults.ts'

const ALERTS_FILE = {
  bytesMax: 64 * 1024,
  what: 'file of alerts',
  risk: 'whoever has its URLs writes into your channels; chmod 600 it, and make new URLs',
}
const TARGETS_MAX = 20
const NAMES_MAX = 20
const FAILED_SHARE = 0.05
const FAILED_SHARE_MIN = 0.001
/** A longer one would leave no room for the problem in a link. */
const CONSOLE_URL_LENGTH_MAX = 500
const TARGET_NAME = /^[a-z][a-z0-9-]{0,31}$/
const FILE_FIELDS = ['consoleUrl', 'failedShare', 'targets']
const TARGET_FIELDS = ['name', 'url', 'format', 'rules', 'names', 'tags']

/** Who is told, as the file says it. */
export interface AlertTargetConfig {
  readonly name: string
  /** It is called `alert-` and the name, and has the secret URL. */
  readonly service: NamedService
  readonly format: AlertFormat
  readonly rules: readonly AlertRule[]
  readonly names?: readonly string[]
  readonly tags?: Readonly<Record<string, string>>
}

export interface AlertsConfig {
  /** It has no slash at its end. */
  readonly consoleUrl: string
  readonly failedShare: number
  readonly targets: readonly AlertTargetConfig[]
}

export function readAlertsFile(path: string): Parsed<AlertsConfig> {
  const file = readSecretFile(path, ALERTS_FILE)
  return 'problem' in file ? file : parseAlerts(file.value)
}

/** Exported for its tests. */
export function parseAlerts(text: string): Parsed<AlertsConfig> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error: unknown) {
    if (!(error instanceof SyntaxError)) throw error
    return { problem: `names a file that is no JSON: the fault is at ${findJsonFault(text)}` }
  }
  const faults = new FileFaults()
  const config = isRecord(value) ? readConfig(value, faults) : undefined
  if (config === undefined) faults.add('SAGA_INVALID', '', 'must be an object with consoleUrl and targets')
  return faults.isEmpty && config !== undefined
    ? { value: config }
    : { problem: `names a file with faults: ${faults.describe()}` }
}

function readConfig(value: Fields, faults: FileFaults): AlertsConfig {
  faults.refuseUnknown(value, FILE_FIELDS, '')
  const { consoleUrl, failedShare = FAILED_SHARE, targets } = value
  if (typeof failedShare !== 'number' || !(failedShare >= FAILED_SHARE_MIN && failedShare <= 1))
    faults.add('SAGA_INVALID', '/failedShare', `must be a number from ${FAILED_SHARE_MIN} to 1`)
  const list = Array.isArray(targets) && targets.length > 0 && targets.length <= TARGETS_MAX ? targets : []
  if (list.length === 0)
    faults.add('SAGA_INVALID', '/targets', `must be a list of 1 to ${TARGETS_MAX} targets`)
  const read = list.map((target: unknown, at) => readTarget(target, `/targets/${at}`, faults))
  const names = read.map(({ name }) => name)
  for (const [at, name] of names.entries())
    if (names.indexOf(name) < at) faults.add('SAGA_NAME_INVALID', `/targets/${at}/name`, 'is given twice')
  return { consoleUrl: readConsoleUrl(consoleUrl, faults), failedShare: Number(failedShare), targets: read }
}

function readConsoleUrl(value: unknown, faults: FileFaults): string {
  const text = typeof value === 'string' && value.length <= CONSOLE_URL_LENGTH_MAX ? value : ''
  const url = URL.parse(text)
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (isPlain) return url.href.replace(/\/$/, '').replace(/\/console$/, '')
  faults.add(
    'SAGA_URL_INVALID',
    '/consoleUrl',
    `must be the http or https URL by which people reach the server, of ${CONSOLE_URL_LENGTH_MAX} characters at most, without a login, query and fragment`,
  )
  return ''
}

function readTarget(value: unknown, path: string, faults: FileFaults): AlertTargetConfig {
  const target = isRecord(value) ? value : {}
  if (target !== value) faults.add('SAGA_INVALID', path, 'must be an object')
  faults.refuseUnknown(target, TARGET_FIELDS, path)
  const { name, url, format = 'json', rules, names, tags } = target
  const isGood = typeof name === 'string' && TARGET_NAME.test(name)
  if (!isGood)
    faults.add(
      'SAGA_NAME_INVALID',
      `${path}/name`,
      'must be 1–32 characters of a-z, 0-9 and -, a letter first',
    )
  const known = isGood ? name : ''
  const service = parseEndpoint(`alert-${known}`, typeof url === 'string' ? url : '')
  if (typeof service === 'string') faults.add('SAGA_URL_INVALID', `${path}/url`, service)
  const isFormat = ALERT_FORMATS.find((each) => each === format)
  if (isFormat === undefined)
    faults.add('SAGA_INVALID', `${path}/format`, `must be one of ${ALERT_FORMATS.join(', ')}`)
  return {
    name: known,
    service: typeof service === 'string' ? NO_SERVICE : service,
    format: isFormat ?? 'json',
    rules: rules === undefined ? ALERT_RULES : readRules(rules, `${path}/rules`, faults),
    ...(names === undefined ? {} : { names: readNames(names, `${path}/names`, faults) }),
    ...(tags === undefined ? {} : { tags: readTags(tags, `${path}/tags`, faults) }),
  }
}

const NO_SERVICE: NamedService = { name: '', origin: '', hostname: '', base: '' }

function readRules(value: unknown, path: string, faults: FileFaults): readonly AlertRule[] {
  const rules = ALERT_RULES.filter((rule) => Array.isArray(value) && value.includes(rule))
  if (rules.length === 0 || !Array.isArray(value) || rules.length !== value.length)
    faults.add('SAGA_INVALID', path, `must be a list of ${ALERT_RULES.join(', ')}, each once at most`)
  return rules
}

function readNames(value: unknown, path: string, faults: FileFaults): readonly string[] {
  const names = Array.isArray(value) && value.length > 0 && value.length <= NAMES_MAX ? value : undefined
  if (names?.every(isName)) return names
  faults.add(
    'SAGA_NAME_INVALID',
    path,
    `must be a list of 1 to ${NAMES_MAX} names of transactions, each of which ${NAME_RULE}`,
  )
  return []
}

function readTags(value: unknown, path: string, faults: FileFaults): Readonly<Record<string, string>> {
  const entries = isRecord(value) ? Object.entries(value) : []
  const isGood =
    entries.length > 0 &&
    entries.length <= TAGS_MAX &&
    entries.every(([key, tag]) => isTagKey(key) && isTagValue(tag))
  if (!isGood) faults.add('SAGA_TAG_INVALID', path, `must be an object of 1 to ${TAGS_MAX} tags`)
  return isGood ? (Object.fromEntries(entries) as Record<string, string>) : {}
}
