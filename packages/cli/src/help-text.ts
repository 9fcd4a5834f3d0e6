import { SETTINGS } from './settings.ts'

export function helpText(): string {
  const rows = Object.values(SETTINGS).map(
    ({ flag, help, fallback }) => `  --${flag.padEnd(24)} ${help}${fallback === '' ? '' : ` (${fallback})`}`,
  )
  return [
    'counterstep serve [options]    runs the orchestrator on the embedded store',
    '',
    ...rows,
    `  --${'ready-json'.padEnd(24)} print {"url": …} on one line of stdout when listening`,
    `  --${'help'.padEnd(24)} print this`,
    `  --${'version'.padEnd(24)} print the version`,
    '',
    'Each option may come from the environment: --lease-ms is COUNTERSTEP_LEASE_MS. The option wins.',
    'Instants and spans are in milliseconds. SIGTERM and SIGINT stop it within 10 s; a second one at once.',
    '',
  ].join('\n')
}
