import { formatAge, formatCountdown, formatIso, formatNext, formatTimeOfDay } from './instants.ts'
import { useNow } from './use-now.ts'

/** An instant as an age, with the whole instant as its title. */
export function Age({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={formatIso(at)} title={formatIso(at)}>
      {formatAge(now - at)}
    </time>
  )
}

export function TimeOfDay({ at }: { readonly at: number }) {
  return (
    <time dateTime={formatIso(at)} title={formatIso(at)}>
      {formatTimeOfDay(at)}
    </time>
  )
}

export function Countdown({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={formatIso(at)} title={formatIso(at)}>
      {formatCountdown(at - now)}
    </time>
  )
}

/** `next in 00:41`, and `now` once it is due. */
export function Next({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={formatIso(at)} title={formatIso(at)}>
      {formatNext(at - now)}
    </time>
  )
}
