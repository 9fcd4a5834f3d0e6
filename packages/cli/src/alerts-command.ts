import { parseArgs } from 'node:util'
import {
  type AlertsConfig,
  type AlertTargetConfig,
  type Environment,
  readSettings,
  SETTINGS,
} from '@counterstep/configuration'

/** `help`: the usage was asked for. */
export type AlertsRequest = AlertsCommand | 'help'

/** Sends a test to one target. */
export interface AlertsCommand {
  readonly alerts: AlertsConfig
  readonly target: AlertTargetConfig
  readonly signingKeyFile: string | undefined
  readonly egressProxy: string | undefined
}

export const ALERTS_USAGE =
  'counterstep alerts test NAME --alerts-file FILE [--signing-key-file FILE] [--egress-proxy URL]   sends a test alert'

const NAMES = ['alertsFile', 'signingKeyFile', 'egressProxy'] as const
const OPTIONS = {
  'alerts-file': { type: 'string' },
  'signing-key-file': { type: 'string' },
  'egress-proxy': { type: 'string' },
  help: { type: 'boolean' },
} as const

/** Reads the arguments after `counterstep alerts`. The settings may also come from their variables, as for `serve`. */
export function readAlertsCommand(
  args: readonly string[],
  environment: Environment,
): { readonly command: AlertsRequest } | { readonly problems: readonly string[] } {
  const { positionals, values } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: OPTIONS,
  })
  if (values.help === true) return { command: 'help' }
  const [word, name = ''] = positionals
  const isKnown = Object.entries(values).every(([key, value]) => key in OPTIONS && typeof value === 'string')
  if (!isKnown || word !== 'test' || name === '' || positionals.length !== 2)
    return { problems: [`alerts takes the word test, a NAME and options: ${ALERTS_USAGE}`] }
  const flags = new Map(Object.entries(values).map(([key, value]) => [key, String(value)]))
  const { known, problems } = readSettings(SETTINGS, NAMES, { flags, environment })
  if (problems.length > 0) return { problems }
  const { alertsFile: alerts, signingKeyFile, egressProxy } = known
  if (alerts === undefined)
    return { problems: ['alerts test needs --alerts-file or COUNTERSTEP_ALERTS_FILE.'] }
  const target = alerts.targets.find((each) => each.name === name)
  if (target === undefined) {
    const names = alerts.targets.map((each) => each.name).join(', ')
    return { problems: [`the file of --alerts-file has no such target; there is ${names}.`] }
  }
  return { command: { alerts, target, signingKeyFile, egressProxy } }
}
