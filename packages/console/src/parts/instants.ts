import { formatDuration } from '@counterstep/explain'

const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** The time of day as this browser has it. */
export function formatTimeOfDay(at: number): string {
  return TIME.format(at)
}

export function formatDay(at: number): string {
  return `${DAY.format(at)} ${TIME.format(at)}`
}

/** Instants of the wire are milliseconds. A broken one is shown as it is. */
export function formatIso(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : String(at)
}

export function formatAge(ms: number): string {
  return ms < 1_000 ? 'now' : `${formatDuration(ms)} ago`
}

/** `00:41`, `12:05`, `3 h 02 min`. */
export function formatCountdown(ms: number): string {
  if (ms <= 0) return 'now'
  const seconds = Math.ceil(ms / 1_000)
  const two = (value: number) => String(value).padStart(2, '0')
  if (seconds < 3_600) return `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`
  const hours = Math.floor(seconds / 3_600)
  if (hours < 48) return `${hours} h ${two(Math.floor((seconds % 3_600) / 60))} min`
  return `${Math.floor(hours / 24)} d`
}

/** When the next call of something is due: `next in 00:41`, or `now`. */
export function formatNext(ms: number): string {
  return ms <= 0 ? 'now' : `next in ${formatCountdown(ms)}`
}
